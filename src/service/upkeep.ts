import type { Change, Store } from "../index.ts";
import type { Parts } from "./parts.ts";

const SWEEP_MS = 1000;
const PRUNE_EVERY_SWEEPS = 60;

/** Erases what has run out: nonces of closed windows every second, expired rows every minute. Returns what stops it. */
export function startUpkeep({ pairs, sessions, revocations, store, observe }: Parts, now: () => number): () => void {
  let sweeps = 0;
  let running = false;
  const timer = setInterval(() => {
    if (running) return;
    const changes: Change[] = pairs.sweep(now());
    if (sweeps++ % PRUNE_EVERY_SWEEPS === 0)
      changes.push(...pairs.prune(now()), ...sessions.prune(now()), ...revocations.prune(now()));
    running = true;
    eraseDue(store, changes)
      .catch((error: unknown) =>
        observe({
          kind: "notice",
          level: "error",
          message: "What has run out could not be erased; it will be tried again.",
          error,
        }),
      )
      .finally(() => (running = false));
  }, SWEEP_MS);
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
