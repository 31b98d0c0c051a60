import type { DatabaseSync } from "node:sqlite";
import { prepare } from "../connection.ts";

/** The longest life of a snapshot, in milliseconds, even if the event loop is blocked. */
const longestMs = 1;

/** The number of commits that were acknowledged in this process, by any store. */
let acknowledged = 0;

/** To be called before a commit is acknowledged, so that the client can read it. */
export function acknowledgeCommit(): void {
  acknowledged++;
}

/** A state of the database that several reads share. */
export interface Snapshot {
  /** Makes sure that there is a snapshot. The next read uses it. */
  take(): void;
  release(): void;
}

/**
 * Shares a snapshot between the reads of one turn of the event loop. A read with its own snapshot takes three more system calls and four
 * times as long. The snapshot ends with the turn, after a millisecond, or when this process acknowledges a commit. `begun` runs within each
 * new snapshot. If it throws, the snapshot ends.
 */
export function createSnapshot(database: DatabaseSync, begun: () => void): Snapshot {
  const begin = prepare(database, "BEGIN");
  const commit = prepare(database, "COMMIT");
  let held = false;
  let scheduled = false;
  let takenAt = 0;
  let commitsThen = 0;

  function release(): void {
    if (!held) return;
    held = false;
    try {
      commit.run();
    } catch {
      // A disk error has ended the read, which got the error. There is nothing to write.
      if (database.isTransaction) database.exec("ROLLBACK");
    }
  }

  function endOfTurn(): void {
    scheduled = false;
    release();
  }

  return {
    take() {
      if (held) {
        if (commitsThen === acknowledged && performance.now() - takenAt < longestMs) return;
        release();
      }
      begin.run();
      held = true;
      commitsThen = acknowledged;
      takenAt = performance.now();
      if (!scheduled) {
        scheduled = true;
        setImmediate(endOfTurn);
      }
      try {
        begun();
      } catch (error) {
        release();
        throw error;
      }
    },
    release,
  };
}
