import { setImmediate } from "node:timers/promises";

/**
 * Resolves in the next turn of the event loop. Call it after another connection has written to a SQLite file, because
 * the reads of one turn share a snapshot (`src/store/sqlite/reads/snapshot.ts`) from before the write. A write of
 * another program needs no such call, because its response arrives in a later turn.
 */
export function nextTurn(): Promise<void> {
  return setImmediate();
}
