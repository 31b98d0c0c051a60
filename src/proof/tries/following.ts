import type { ProveAnswer, ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import type { State } from "../content/state.ts";
import type { CallRequest } from "../requests/calls.ts";
import { carry, pathOf } from "./schemes.ts";
import { describeActor, reportSeen, type Trial } from "./try.ts";

/** The values of one answer that are tried, and the callers that follow it. */
const MOST_VALUES = 6;
const MOST_FOLLOWERS = 3;
const LEAST_CREDENTIAL = 12;

/**
 * Uses the values of an answer: as parameters of endpoints that read, by the caller and by others, and as credentials.
 * A later request may show what an earlier one has prepared.
 */
export async function followAnswer(
  trial: Trial,
  request: CallRequest,
  answer: ProveAnswer,
  state: State,
): Promise<void> {
  const values = valuesIn(answer);
  if (values.length === 0) return;
  for (const path of pathsWith(trial, request, values))
    for (const actor of followersOf(trial, request)) {
      const read: ProveRequest = { ...path, actor, method: "GET", isGuessed: true };
      const shown = await trial.sender.send(read);
      if (shown !== null) reportSeen(trial, read, shown, { state, before: [request] });
    }
  if (request.actor.credential === "login") await tryCredentials(trial, request, values, state);
}

/** Returns the texts and numbers of an answer in JSON, and the last part of its location. */
function valuesIn({ text, headers }: ProveAnswer): readonly string[] {
  const location = headers.get("location");
  const leaves = leavesOf(parsed(text));
  const parts = location === null ? [] : location.split(/[/?=]/).slice(-1);
  return [...new Set([...parts, ...leaves])].filter((each) => each !== "" && each.length < 500).slice(0, MOST_VALUES);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(leavesOf);
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}

/** Returns the paths of reading endpoints of the project with one parameter, under the first part of the path. */
function pathsWith(
  { world }: Trial,
  { route }: CallRequest,
  values: readonly string[],
): readonly Pick<ProveRequest, "path" | "route" | "reveals">[] {
  const start = route.split("/")[1]!;
  return world.service.routes.flatMap(({ path, methods }) => {
    const endpoint = methods.get("GET");
    const [param, ...others] = path.match(/\{[^}]*\}/g) ?? [];
    if (endpoint === undefined || endpoint.mounted !== undefined || endpoint.isBuiltIn === true) return [];
    if (param === undefined || others.length > 0 || path.split("/")[1] !== start) return [];
    const { reveals = [] } = endpoint;
    return values.map((value) => ({ route: path, path: path.replace(param, encodeURIComponent(value)), reveals }));
  });
}

/** Returns the caller, and others who have fewer rights or other rows. */
function followersOf({ world }: Trial, { actor }: CallRequest): readonly Actor[] {
  const others = world.actors.filter(
    ({ userId, credential, name }) => userId !== actor.userId && credential !== "key" && !name.startsWith("admin"),
  );
  return [actor, ...others.slice(0, MOST_FOLLOWERS)];
}

/** Sends each text of the answer to every scheme: a credential of another user shows what the caller may not see. */
async function tryCredentials(
  trial: Trial,
  request: CallRequest,
  values: readonly string[],
  state: State,
): Promise<void> {
  const { world, sender, findings } = trial;
  const texts = values.filter((each) => each.length >= LEAST_CREDENTIAL && !/\s/.test(each));
  const schemes = world.service.schemes.filter(({ name }) => !name.startsWith("prove-"));
  const actor: Actor = { ...request.actor, credential: "none" };
  for (const text of texts)
    for (const carrier of schemes.flatMap(({ carriers }) => carriers))
      for (const mount of world.mounts.filter(({ permissions }) => permissions.list !== undefined)) {
        const plain = { actor, method: "GET", path: pathOf(world, mount), route: mount.resource.path, isGuessed: true };
        const read = carry(carrier, text, plain);
        const shown = await sender.send(read);
        if (shown === null || shown.status >= 300) continue;
        const add = ({ resource }: { readonly resource: string }): void =>
          findings.add({
            requests: [request, read],
            resource,
            field: null,
            sentence: `${describeActor(request)} gets a credential of another user, which shows ${resource} that its permissions hide.`,
          });
        reportSeen({ ...trial, findings: { ...findings, add } }, read, shown, { state });
      }
}
