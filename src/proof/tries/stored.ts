import type { ProveRequest } from "../asking/request.ts";
import type { Actor } from "../content/actors.ts";
import { collectMarks } from "../content/values.ts";
import { collectReads } from "./reading.ts";
import { isShown, shownIn } from "./seen.ts";
import { describeActor, nameOf, type StoredValue, type Trial } from "./try.ts";

/** Reads everything again after all writes, and reports the values of undone rows that code still shows. */
export async function tryStored(trial: Trial, actor: Actor): Promise<void> {
  for (const request of collectReads(trial.world, actor)) {
    if (request.method !== "GET" || request.path.includes("?")) continue;
    const answer = await trial.sender.send(request);
    if (answer === null) continue;
    for (const mark of collectMarks(shownIn(answer))) {
      const stored = trial.stored.get(mark);
      if (stored !== undefined) reportStored(trial, request, stored);
    }
  }
}

function reportStored(
  { world, findings }: Trial,
  request: ProveRequest,
  { cell, row, request: write }: StoredValue,
): void {
  const { mount, id, field } = cell;
  if (isShown(world.sightOf(request.actor), request, cell, row)) return;
  findings.add({
    requests: [write, request],
    resource: nameOf(mount),
    field,
    sentence: `${describeActor(request)} sees ${field} of ${nameOf(mount)} ${id}, which its permissions hide.`,
  });
}
