import type { Carrier, Scheme } from "../../access/scheme/scheme.ts";
import { isBuiltInScheme } from "../../features/auth/gate/built-in-schemes.ts";
import type { ServedMount } from "../../http/declarations/mount.ts";
import type { ProveRequest } from "../asking/request.ts";
import { collectionPath, rowsOf } from "../requests/rows.ts";
import type { World } from "../world/world.ts";
import { reportSeen, type Trial } from "./try.ts";

/** Sends the ids and names of users to every scheme of the project, as if they were credentials. */
export async function trySchemes(trial: Trial): Promise<void> {
  const { world, sender, findings } = trial;
  const nobody = world.actors.find(({ credential }) => credential === "none")!;
  for (const scheme of world.service.schemes.filter(isOfProject))
    for (const carrier of scheme.carriers)
      for (const guess of guessesOf(world)) {
        for (const mount of world.mounts) {
          const request = carry(carrier, guess, {
            actor: nobody,
            method: "GET",
            path: pathOf(world, mount),
            route: mount.resource.path,
          });
          const answer = mount.permissions.list === undefined ? null : await sender.send(request);
          if (answer === null || answer.status >= 300) continue;
          const seen: string[] = [];
          reportSeen(
            {
              ...trial,
              findings: {
                ...findings,
                add: (found) => {
                  if (seen.includes(found.resource)) return;
                  seen.push(found.resource);
                  findings.add({
                    ...found,
                    field: null,
                    sentence: `The scheme ${scheme.name} takes ${guess} as the proof of a user, and shows ${found.resource} of that user.`,
                  });
                },
              },
            },
            request,
            answer,
          );
        }
      }
}

function isOfProject(scheme: Scheme): boolean {
  return !isBuiltInScheme(scheme) && !scheme.name.startsWith("prove-");
}

/** Returns the path of a collection of the mount. */
export function pathOf(world: World, mount: ServedMount): string {
  const [row] = rowsOf(world.state(), mount);
  return row === undefined ? mount.resource.path : collectionPath(mount, row, world.state());
}

/** Returns the public facts about users: their ids, usernames and addresses. */
function guessesOf(world: World): readonly string[] {
  const accounts = [...(world.state().get("accounts")?.values() ?? [])];
  const users = world.state().get(world.usersTable);
  return accounts.flatMap((account) => [
    String(account["id"]),
    String(account["username"]),
    String(users?.get(account["id"] as number)?.["email"]),
  ]);
}

/** Returns the request with a credential. */
export function carry(carrier: Carrier, guess: string, request: ProveRequest): ProveRequest {
  switch (carrier.in) {
    case "authorization":
      return { ...request, headers: { Authorization: `${carrier.scheme} ${guess}` } };
    case "header":
    case "proxy":
      return { ...request, headers: { [carrier.name]: guess } };
    case "cookie":
      return { ...request, headers: { Cookie: `${carrier.name}=${encodeURIComponent(guess)}` } };
    case "query":
      return { ...request, path: `${request.path}?${carrier.name}=${encodeURIComponent(guess)}` };
  }
}
