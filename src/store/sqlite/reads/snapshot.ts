import type { DatabaseSync } from "node:sqlite";
import { prepare } from "../connection.ts";

/** How long one snapshot may serve, in milliseconds, whatever the event loop is doing. */
const longestMs = 1;

/** How many commits this process was told of, by any of its stores. */
let acknowledged = 0;

/** To be called before anyone is told of a commit, so that whoever was told of it can read it. */
export function acknowledgeCommit(): void {
  acknowledged++;
}

/** A state of the database that several reads share. */
export interface Snapshot {
  /** Makes sure that there is one. The next read is part of it. */
  take(): void;
  release(): void;
}

/**
 * Reads of one turn of the event loop share a snapshot: a read of its own takes SQLite three system calls and four times
 * as long. It ends with the turn, after a millisecond, and whenever a commit is acknowledged in this process.
 * `begun` is called within each; where that fails there is none.
 */
export function snapshotOf(database: DatabaseSync, begun: () => void): Snapshot {
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
      // The disk failed while it was read. Whoever read was told, and nothing was to be written.
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
