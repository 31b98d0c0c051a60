import type { Observer } from "../observation.ts";
import type { Change, Store } from "../store/store.ts";
import type { Upkeep } from "./feature.ts";

const TICK_MS = 1000;

/** Runs all upkeep of a service on one timer. Returns what stops it. */
export function startUpkeep(
  upkeep: readonly Upkeep[],
  { store, observe, now }: { readonly store: Store; readonly observe: Observer | null; readonly now: () => number },
): () => void {
  if (upkeep.length === 0) return () => undefined;
  const dueIn = upkeep.map(() => 0);
  let isRunning = false;
  const timer = setInterval(() => {
    for (const at of dueIn.keys()) dueIn[at]!--;
    // A round that takes longer than a tick is not joined by the next one; what falls due meanwhile stays due.
    if (isRunning) return;
    const due = upkeep.filter((_, at) => dueIn[at]! < 0);
    if (due.length === 0) return;
    for (const [at, { everySeconds }] of upkeep.entries()) if (dueIn[at]! < 0) dueIn[at] = everySeconds - 1;
    isRunning = true;
    eraseDue(
      store,
      due.flatMap((each) => each.due(now())),
    )
      .catch((error: unknown) =>
        observe?.({
          kind: "notice",
          level: "error",
          message: "What has run out could not be erased; it will be tried again.",
          error,
        }),
      )
      .finally(() => (isRunning = false));
  }, TICK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Writes only where something is due, so that a service nobody uses leaves the disk alone. */
async function eraseDue(store: Store, changes: readonly Change[]): Promise<void> {
  const due: Change[] = [];
  for (const change of changes) {
    if (!("where" in change) || (await store.count(change.collection, change.where)) > 0) due.push(change);
  }
  if (due.length > 0) await store.write({ changes: due });
}
