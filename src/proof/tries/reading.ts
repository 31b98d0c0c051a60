import type { ServedMount } from "../../http/declarations/mount.ts";
import type { ProveAnswer, ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import { findForgotten } from "../judging/forgotten.ts";
import { drawHeaders, drawQueries, fillWithRows } from "../requests/endpoint-paths.ts";
import { drawReads } from "../requests/reads.ts";
import { rowsOf } from "../requests/rows.ts";
import type { World } from "../world/world.ts";
import { reportExistence } from "./existence.ts";
import { reportRefusal } from "./refusals.ts";
import { describeActor, nameOf, recordsIn, reportSeen, type Trial } from "./try.ts";

/** A request and its answer, to be compared with the answer in a world with other hidden values. */
export interface Answered {
  readonly request: ProveRequest;
  readonly answer: ProveAnswer;
}

/** Sends every reading request of an actor. Returns those whose answers are compared later. */
export async function tryReads(trial: Trial, actor: Actor): Promise<readonly Answered[]> {
  const { world, sender } = trial;
  const answered: Answered[] = [];
  for (const request of collectReads(world, actor)) {
    const answer = await sender.send(request);
    if (answer === null) continue;
    reportSeen(trial, request, answer);
    reportRefusal(trial, request, answer);
    reportHiddenRelation(trial, request, answer);
    await reportExistence(trial, request, answer);
    reportForgotten(trial, request, answer);
    if (request.headers?.["Prefer"] !== undefined && request.lists !== undefined)
      reportCount(trial, request, answer, request.lists);
    if (request.isCompared === true) answered.push({ request, answer });
    if (request.path.endsWith("?limit=1")) await followNext(trial, request, answer);
  }
  return answered;
}

/** Returns the requests by which an actor reads: all mounts, and the endpoints of the project. */
export function* collectReads(world: World, actor: Actor): Generator<ProveRequest> {
  const older = world.service.mounts.filter(({ newer }) => newer !== null && world.mounts.includes(newer));
  for (const mount of [...world.mounts, ...older]) yield* drawReads(world, actor, mount);
  yield* endpointReads(world, actor);
}

/** Returns the requests to the endpoints of the project that only read. */
function* endpointReads(world: World, actor: Actor): Generator<ProveRequest> {
  for (const { path, methods } of world.service.routes) {
    const endpoint = methods.get("GET");
    if (endpoint === undefined || endpoint.mounted !== undefined || endpoint.isBuiltIn === true) continue;
    const { reveals = [], query = "none" } = endpoint;
    const base = { actor, method: "GET", route: path, reveals };
    const paths = fillWithRows(world, path);
    for (const { path: filled, named } of paths)
      yield { ...base, path: filled, named, isCompared: reveals.length === 0 };
    if (paths[0] !== undefined)
      for (const headers of drawHeaders(world)) yield { ...base, path: paths[0].path, headers, isGuessed: true };
    if (paths[0] === undefined || !["read", "secret"].includes(query)) continue;
    for (const each of drawQueries(world, path)) yield { ...base, path: `${paths[0].path}?${each}`, isGuessed: true };
  }
}

/** Reports a relation in an answer although the field that it follows is hidden. */
function reportHiddenRelation({ findings }: Trial, request: ProveRequest, { status, text }: ProveAnswer): void {
  if (request.hides === undefined || status !== 200) return;
  const { mount, relation } = request.hides;
  if (recordsIn(text).every((record) => !Object.hasOwn(record, relation.name))) return;
  findings.add({
    requests: [request],
    resource: nameOf(mount),
    field: relation.column,
    sentence: `${describeActor(request)} sees ${relation.column} of ${nameOf(mount)} as ${relation.name}, although its permissions hide the field.`,
  });
}

/** Reports a count that includes rows which the caller may not list. */
function reportCount({ world, findings }: Trial, request: ProveRequest, answer: ProveAnswer, mount: ServedMount): void {
  const total = answer.headers.get("x-total-count");
  if (total === null || mount.parent !== null) return;
  const sight = world.sightOf(request.actor);
  const rows = rowsOf(world.state(), mount);
  const allowed = rows.filter((row) => sight.may("list", mount.newer ?? mount, row)).length;
  // An estimate may be larger than the number of all rows.
  if (Number(total) <= allowed || allowed === rows.length) return;
  findings.add({
    requests: [request],
    resource: nameOf(mount),
    field: null,
    sentence: `${describeActor(request)} learns from X-Total-Count that there are ${total} ${nameOf(mount)}, and may list ${allowed}.`,
  });
}

/** Reports a record that its own path shows, although the same permission of the project hides it in lists. */
function reportForgotten({ world, findings }: Trial, request: ProveRequest, { status }: ProveAnswer): void {
  const { whole } = request;
  if (whole === undefined || whole.row === null || status !== 200) return;
  const mount = whole.mount.newer ?? whole.mount;
  const sight = world.sightOf(request.actor);
  if (sight.isOwn(mount, whole.row) || findForgotten(sight, "read", mount, whole.row) === null) return;
  findings.add({
    requests: [request],
    resource: nameOf(mount),
    field: null,
    sentence: `${describeActor(request)} reads ${nameOf(mount)} ${String(whole.row["id"])} at its path, and the same permission denies list.`,
  });
}

/** Reads the next page and the previous one. */
async function followNext(trial: Trial, request: ProveRequest, answer: ProveAnswer): Promise<void> {
  const next = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  if (next === undefined) return;
  const { basePath } = trial.world.service;
  const path = next.startsWith(basePath) ? next.slice(basePath.length) : next;
  const further: ProveRequest = { ...request, headers: {}, path };
  const page = await trial.sender.send(further);
  if (page !== null) reportSeen(trial, further, page);
}
