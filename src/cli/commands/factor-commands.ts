import type { Command } from "commander";
import type { Operator } from "../../service/system/operator.ts";
import { CommandFailed, show, showList, type Output, type ItemMembers } from "../output.ts";
import { requireDone, requireUserId, withOperator } from "../with-operator.ts";

/** Adds `latchkey user factor …`, for a user who has lost a second factor. */
export function addFactorCommands(user: Command): void {
  const factor = user.command("factor").description("second factors and passkeys of a user: list, remove");
  factor
    .command("list")
    .description("list the second factors and passkeys of a user")
    .argument("<user>")
    .option("--json", "print JSON")
    .action(list);
  factor
    .command("remove")
    .description("remove one or all factors of a user; ends every login of the user")
    .argument("<user>")
    .argument("[factor]", "its id, from latchkey user factor list")
    .option("--all", "remove every factor")
    .option("--json", "print JSON")
    .action(remove);
}

interface Removing extends Output {
  readonly all?: boolean;
}

function list(user: string, { json = false }: Output): Promise<void> {
  return withOperator(async (operator) => {
    const factors = await fetchFactors(operator, await requireUserId(operator, user));
    await showList(json, [factors], ["id", "kind", "label", "created_at", "last_used_at"]);
  });
}

function remove(user: string, factor: string | undefined, { all = false, json = false }: Removing): Promise<void> {
  return withOperator(async (operator) => {
    if (all === (factor !== undefined))
      throw new CommandFailed("Name one factor, or give --all. latchkey user factor list shows the ids.");
    const id = await requireUserId(operator, user);
    const ids = factor === undefined ? (await fetchFactors(operator, id)).map((each) => String(each["id"])) : [factor];
    for (const each of ids) await requireDone(operator, "DELETE", `/users/${id}/factors/${encodeURIComponent(each)}`);
    const removed = `${ids.length} ${ids.length === 1 ? "factor was" : "factors were"} removed.`;
    show(
      json,
      { id, removed: ids.length },
      ids.length === 0 ? removed : `${removed} All logins of the user were revoked.`,
    );
  });
}

/** Returns the factors of a user without the recovery codes, because the service removes these with the last factor. */
async function fetchFactors(operator: Operator, id: number): Promise<readonly ItemMembers[]> {
  const all = (await requireDone(operator, "GET", `/users/${id}/factors`)) as readonly ItemMembers[];
  return all.filter(({ kind }) => kind !== "recovery");
}
