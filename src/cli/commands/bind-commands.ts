import type { Command } from "commander";
import { CommandFailed } from "../exit.ts";
import { show, type Output } from "../output.ts";
import { requireUserId, withOperator } from "../with-operator.ts";

interface BindOptions extends Output {
  readonly issuer?: string;
}

/** Adds `latchkey user bind` and `unbind`, which connect external identities with users. */
export function addBindCommands(user: Command): void {
  addIssuer(
    user
      .command("bind")
      .description("say that a remote user, or somebody of an issuer elsewhere, is this user")
      .argument("<user>")
      .argument("<subject>", "what the proxy or the issuer (sub) calls them, letter by letter"),
  ).action(bind);
  addIssuer(
    user
      .command("unbind")
      .description("say that a remote user, or somebody of an issuer elsewhere, is nobody here")
      .argument("<subject>", "what the proxy or the issuer (sub) calls them, letter by letter"),
  ).action(unbind);
}

function addIssuer(command: Command): Command {
  return command
    .option("--issuer <issuer>", "the iss of the issuer; the proxy where it is left out")
    .option("--json", "answer in JSON");
}

function bind(user: string, subject: string, { issuer = "", json = false }: BindOptions): Promise<void> {
  return withOperator(async (operator) => {
    const id = await requireUserId(operator, user);
    const bound = await operator.bind(id, { issuer, subject });
    if (bound === null) throw new CommandFailed(`There is no user with the id ${id}.`, "not_found");
    if (bound !== id)
      throw new CommandFailed(
        `${JSON.stringify(subject)} is bound to the user id:${bound}. Let go of that first: latchkey user unbind.`,
        "conflict",
      );
    show(json, { id, issuer, subject }, `${JSON.stringify(subject)} is the user id:${id} from now on.`);
  });
}

function unbind(subject: string, { issuer = "", json = false }: BindOptions): Promise<void> {
  return withOperator(async (operator) => {
    const unbound = await operator.unbind({ issuer, subject });
    if (!unbound) throw new CommandFailed(`${JSON.stringify(subject)} is bound to nobody.`, "not_found");
    show(json, { issuer, subject }, `${JSON.stringify(subject)} is nobody here from now on.`);
  });
}
