import { setTimeout as wait } from "node:timers/promises";
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
  const stopped = new AbortController();
  const all = upkeep.map((each) => ({ ...each, dueIn: 0, isRunning: false }));
  const timer = setInterval(() => {
    for (const each of all) {
      each.dueIn--;
      // Where much has run out a round takes longer than a tick. The others go on meanwhile, and this one stays due.
      if (each.dueIn >= 0 || each.isRunning) continue;
      each.dueIn = each.everySeconds - 1;
      each.isRunning = true;
      erase(store, each.due(now()), stopped.signal)
        .catch((error: unknown) => {
          if (stopped.signal.aborted) return;
          observe?.({
            kind: "notice",
            level: "error",
            message: "What has run out could not be erased; it will be tried again.",
            error,
          });
        })
        .finally(() => (each.isRunning = false));
    }
  }, TICK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopped.abort();
  };
}

/** A change that is about all rows that match. */
type Erasing = Extract<Change, { readonly kind: "deleteAll" | "updateAll" }>;

/** What is more than erasing is one transaction, as it was given. */
async function erase(store: Store, changes: readonly Change[], signal: AbortSignal): Promise<void> {
  const erasing = changes.filter(
    (change): change is Erasing => change.kind === "deleteAll" || change.kind === "updateAll",
  );
  if (erasing.length < changes.length) await store.write({ changes });
  else for (const change of erasing) await eraseInPortions(store, change, signal);
}

/** How many rows one write erases: some milliseconds' worth, so that nobody's write waits long behind it. */
const PORTION = 500;

/** Writes only where something is due, so that a service nobody uses leaves the disk alone. */
async function eraseInPortions(store: Store, change: Erasing, signal: AbortSignal): Promise<void> {
  const { collection, where } = change;
  while (!signal.aborted && (await store.list({ collection, where, sort: [], limit: 1 })).length > 0) {
    const start = performance.now();
    await store.write({ changes: [{ ...change, atMost: PORTION }] });
    // At least half of the time is for those who write.
    await wait(performance.now() - start, undefined, { ref: false });
  }
}
