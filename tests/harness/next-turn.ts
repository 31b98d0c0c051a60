import { setImmediate } from "node:timers/promises";

/**
 * Resolves in the next turn of the event loop. Call it after a write of another connection to a SQLite file. The reads
 * of one turn share a snapshot (`src/store/sqlite/reads/snapshot.ts`), and the response of another program arrives in a
 * later turn.
 */
export function nextTurn(): Promise<void> {
  return setImmediate();
}
