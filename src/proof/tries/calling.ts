import type { Actor } from "../content/actors.ts";
import { applyChanges, type RowChange } from "../content/state.ts";
import { drawActions, drawEndpoints, type CallRequest } from "../requests/calls.ts";
import type { World } from "../world/world.ts";
import { reportCopies } from "./copies.ts";
import { reportGains } from "./gains.ts";
import { describeActor, nameOf, reportSeen, type Trial } from "./try.ts";

/** Calls every action and endpoint of the project that may change something. Returns false if the world is lost. */
export async function tryCalls(trial: Trial, actor: Actor): Promise<boolean> {
  for (const request of collectCalls(trial.world, actor)) {
    const answer = await trial.sender.send(request);
    const changes = await trial.world.findChanges();
    if (answer === null) continue;
    const state = applyChanges(trial.world.state(), changes);
    reportSeen(trial, request, answer, changes.length === 0 ? {} : { state });
    if (changes.length === 0) continue;
    reportChangedRows(trial, request, changes);
    await reportGains(trial, request, changes, state);
    await reportCopies(trial, request, changes, state, new Map());
    if (!(await trial.world.undoChanges(await trial.world.findChanges()))) return false;
  }
  return true;
}

function* collectCalls(world: World, actor: Actor): Generator<CallRequest> {
  const older = world.service.mounts.filter(({ newer }) => newer !== null && world.mounts.includes(newer));
  for (const mount of [...world.mounts, ...older]) yield* drawActions(world, actor, mount);
  yield* drawEndpoints(world, actor);
}

/** Reports changed rows that the actor may not read, or that the permission of the action denies. */
function reportChangedRows(trial: Trial, request: CallRequest, changes: readonly RowChange[]): void {
  const { world, findings } = trial;
  const sight = world.sightOf(request.actor);
  const { called } = request;
  for (const { collection, id, before, after } of changes) {
    const mount = world.mounts.find((each) => each.collection.name === collection.name);
    if (mount === undefined || before === null) continue;
    const isSubject = called?.row?.["id"] === id && called.mount === mount;
    // Rows that are deleted with others cascade from them.
    if (after === null && !isSubject && called !== null) continue;
    const verb = after === null ? "deletes" : "changes";
    const denial = !sight.mayReadUnlimited(mount, before)
      ? "which it may not read"
      : isSubject && !sight.mayCall(called.action.permission, mount, before)
        ? `which the permission of ${called.action.name} denies`
        : null;
    if (denial === null) continue;
    const field =
      after === null
        ? null
        : (Object.keys(after).find((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name])) ?? null);
    findings.add({
      requests: [request],
      resource: nameOf(mount),
      field,
      sentence: `${describeActor(request)} ${verb} ${nameOf(mount)} ${String(id)}, ${denial}.`,
    });
  }
}
