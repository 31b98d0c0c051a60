import type { Command } from "commander";
import { CommandFailed, show, type Output } from "../output.ts";
import { requireUserId, withOperator } from "../with-operator.ts";

interface BindOptions extends Output {
  readonly issuer?: string;
}

/** Adds `latchkey user bind` and `unbind`, which connect external identities with users. */
export function addBindCommands(user: Command): void {
  addIssuer(
    user
      .command("bind")
      .description("bind an identity of the proxy, or of another issuer, to this user")
      .argument("<user>")
      .argument("<subject>", "the name that the proxy sends, or the sub of the issuer; upper and lower case differ"),
  ).action(bind);
  addIssuer(
    user
      .command("unbind")
      .description("unbind an identity of the proxy, or of another issuer")
      .argument("<subject>", "the name that the proxy sends, or the sub of the issuer; upper and lower case differ"),
  ).action(unbind);
}

function addIssuer(command: Command): Command {
  return command
    .option("--issuer <issuer>", "the iss of the issuer; default: the proxy")
    .option("--json", "print JSON");
}

function bind(user: string, subject: string, { issuer = "", json = false }: BindOptions): Promise<void> {
  return withOperator(async (operator) => {
    const id = await requireUserId(operator, user);
    const bound = await operator.bind(id, { issuer, subject });
    if (bound === null) throw new CommandFailed(`There is no user with the id ${id}.`, "not_found");
    if (bound !== id)
      throw new CommandFailed(
        `${JSON.stringify(subject)} is bound to the user id:${bound}. Unbind it first: latchkey user unbind.`,
        "conflict",
      );
    show(json, { id, issuer, subject }, `${JSON.stringify(subject)} is now bound to the user id:${id}.`);
  });
}

function unbind(subject: string, { issuer = "", json = false }: BindOptions): Promise<void> {
  return withOperator(async (operator) => {
    const unbound = await operator.unbind({ issuer, subject });
    if (!unbound) throw new CommandFailed(`${JSON.stringify(subject)} is not bound to a user.`, "not_found");
    show(json, { issuer, subject }, `${JSON.stringify(subject)} is no longer bound to a user.`);
  });
}
