import type { Actor } from "../content/actors.ts";
import { applyChanges } from "../content/state.ts";
import { drawActions, drawEndpoints, type CallRequest } from "../requests/calls.ts";
import type { World } from "../world/world.ts";
import { reportChangedRows } from "./changed-rows.ts";
import { reportCopies } from "./copies.ts";
import { reportExistence } from "./existence.ts";
import { followAnswer } from "./following.ts";
import { reportGains } from "./gains.ts";
import { reportSeen, type Trial } from "./try.ts";

/** The answers of one endpoint that are followed. */
const MOST_FOLLOWED = 6;

/** Calls every action and endpoint of the project that may change something. Returns false if the world is lost. */
export async function tryCalls(trial: Trial, actor: Actor): Promise<boolean> {
  const followed = new Map<string, number>();
  for (const request of collectCalls(trial.world, actor)) {
    const answer = await trial.sender.send(request);
    const changes = await trial.world.findChanges();
    if (answer === null) continue;
    const state = applyChanges(trial.world.state(), changes);
    reportSeen(trial, request, answer, changes.length === 0 ? {} : { state });
    const count = followed.get(request.route) ?? 0;
    if (answer.status < 300 && count < MOST_FOLLOWED) {
      followed.set(request.route, count + 1);
      await followAnswer(trial, request, answer, state);
    }
    if (changes.length === 0) {
      await reportExistence(trial, request, answer);
      continue;
    }
    reportChangedRows(trial, request, changes, state);
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
