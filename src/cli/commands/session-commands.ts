import type { Command } from "commander";
import { show, showList, type Output, type ItemMembers } from "../output.ts";
import { requireDone, requireUserId, withOperator } from "../with-operator.ts";

/** Adds `latchkey session …`. */
export function addSessionCommands(session: Command): void {
  session
    .command("list")
    .description("list a user's sessions and token logins")
    .argument("<user>")
    .option("--json", "print JSON")
    .action(list);
  session
    .command("end")
    .description("end one or all logins of a user")
    .argument("<user>")
    .argument("[session]", "its id, from latchkey session list; write -- before an id that begins with -")
    .option("--json", "print JSON")
    .action(end);
}

function list(user: string, { json = false }: Output): Promise<void> {
  return withOperator(async (operator) => {
    const id = await requireUserId(operator, user);
    const sessions = (await requireDone(operator, "GET", `/users/${id}/sessions?limit=1000`)) as readonly ItemMembers[];
    await showList(
      json,
      [sessions],
      ["id", "kind", "created_at", "last_seen_at", "expires_at", "address", "user_agent"],
    );
  });
}

function end(user: string, session: string | undefined, { json = false }: Output): Promise<void> {
  return withOperator(async (operator) => {
    const id = await requireUserId(operator, user);
    const before = (await requireDone(operator, "GET", `/users/${id}/sessions?limit=1000`)) as readonly unknown[];
    const one = session === undefined ? "" : `/${encodeURIComponent(session)}`;
    await requireDone(operator, "DELETE", `/users/${id}/sessions${one}`);
    const ended = session === undefined ? before.length : 1;
    show(json, { id, ended }, `${ended} ${ended === 1 ? "session has" : "sessions have"} been ended.`);
  });
}
