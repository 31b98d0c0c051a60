import type { ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import { describeActor, type Trial } from "./try.ts";

/** Asks every endpoint about the logins of another user: only that user and administrators may use them. */
export async function tryLogins(trial: Trial, actor: Actor): Promise<boolean> {
  const { world, sender, findings } = trial;
  const account = world
    .state()
    .get("accounts")
    ?.get(actor.userId ?? 0);
  if (account?.["role"] === "admin") return true;
  const other = [...(world.state().get("accounts")?.values() ?? [])].find(
    ({ id, role }) => id !== actor.userId && role !== "admin",
  );
  if (other === undefined) return true;
  for (const { path, methods } of world.service.routes) {
    if (!path.startsWith("/users/{")) continue;
    for (const method of methods.keys()) {
      const filled = path.replace(/\{[^}]*\}/, String(other["id"])).replaceAll(/\{[^}]*\}/g, "1");
      const endpoint = methods.get(method)!;
      if (endpoint.isBuiltIn !== true) continue;
      const request: ProveRequest = {
        actor,
        method,
        path: filled,
        route: path,
        ...(endpoint.consumes === undefined ? {} : { body: {} }),
      };
      const answer = await sender.send(request);
      const changes = await world.findChanges();
      if (answer !== null && answer.status < 300)
        findings.add({
          requests: [request],
          resource: "users",
          field: null,
          sentence: `${describeActor(request)} uses ${method} ${path} for user ${String(other["id"])}, which only that user and administrators may.`,
        });
      if (changes.length > 0 && !(await world.undoChanges(changes))) return false;
    }
  }
  return true;
}
