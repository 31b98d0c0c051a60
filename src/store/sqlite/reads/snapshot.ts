import type { DatabaseSync } from "node:sqlite";
import { prepare } from "../connection/connection.ts";

/**
 * The maximum age at which a snapshot is still used, in milliseconds. It matters if one turn of the event loop takes
 * long.
 */
const longestMs = 1;

/** The number of commits that were acknowledged in this process, by any store. */
let acknowledged = 0;

/**
 * Makes the next read use a new snapshot. Called before a commit is acknowledged, so that the client can read its own
 * write.
 */
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
 * Shares a snapshot between the reads of one turn of the event loop. A read with a separate snapshot needs three more
 * system calls and takes four times as long. A snapshot is used until the end of the turn, for at most a millisecond,
 * and not after this process has acknowledged a commit. `begun` runs in each new snapshot. If it throws, the snapshot
 * ends.
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
      // A disk error ended the transaction, and the failed read reported the error. The snapshot has nothing to commit.
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
