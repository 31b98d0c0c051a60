import type { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import { logSizesOf } from "../connection.ts";
import type { Opened } from "../file/opened.ts";
import { startThread } from "../thread.ts";
import type { FromCheckpointer } from "./checkpointer.ts";

/** Moves the log into the file, so that no write waits for it. */
export interface Checkpoints {
  /** Takes over from a connection that writes. Gives what is to be called after each of its commits. */
  takeOver(database: DatabaseSync): () => void;
  /** Ends the thread, so that the last connection to the file is the caller's. */
  close(): Promise<void>;
}

/**
 * So many pages are moved at a time, where SQLite itself takes a thousand. A commit waits for the disk while they are synced: where they lie anywhere in the
 * file, a thousand keep it for 14 ms, these for 5.
 */
const pagesAtATime = 250;

/** From so many pages on the log is to begin anew, as soon as hardly any are left to move. */
const longLog = 2000;
/** Where somebody was reading it, it is tried again so many pages later. */
const retryPages = 500;

/** How long the thread stays without work, in milliseconds. */
const restMs = 30_000;

/**
 * SQLite by itself moves a thousand pages within the commit that makes them a thousand. They lie anywhere in the file, and they are synced:
 * that write, and all behind it, wait for as many writes of the disk. So a thread moves them beside the commits. Only who writes can let the
 * log begin anew, where nothing is left to move: so the writer moves the few pages that have come meanwhile.
 */
export function checkpointsBeside(data: Opened): Checkpoints {
  let worker: Worker | null = null;
  let rest: NodeJS.Timeout | null = null;
  let isMoving = false;

  function start(): Worker {
    const started = startThread<FromCheckpointer>(import.meta.url, "checkpointer", {
      workerData: data,
      youngMb: 1,
      members: ["moved"],
      heard() {
        isMoving = false;
        rest = setTimeout(() => void close(), restMs).unref();
      },
      // Another one is started for the next pages.
      ended() {
        if (worker !== started) return;
        worker = null;
        isMoving = false;
      },
    });
    return started;
  }

  function move(): void {
    if (rest !== null) clearTimeout(rest);
    rest = null;
    isMoving = true;
    (worker ??= start()).postMessage("move");
  }

  async function close(): Promise<void> {
    if (rest !== null) clearTimeout(rest);
    const ending = worker;
    worker = rest = null;
    isMoving = false;
    await ending?.terminate();
  }

  return {
    takeOver(database) {
      const sizes = logSizesOf(database);
      // It goes on making them itself.
      if (sizes === null) return () => {};
      database.exec("PRAGMA wal_autocheckpoint = 0");
      let askedAt = 0;
      let tryAnewAt = longLog;
      return () => {
        const [log, moved] = sizes();
        // It has begun anew.
        if (log < askedAt) [askedAt, tryAnewAt] = [0, longLog];
        if (isMoving) return;
        // Where much is written, hardly any are an eighth: else a log that is written faster than it is moved would never begin anew.
        if (log >= tryAnewAt && log - moved < Math.max(retryPages / 2, log / 8)) {
          database.exec("PRAGMA wal_checkpoint(PASSIVE)");
          tryAnewAt = log + retryPages;
        } else if (log - moved >= pagesAtATime && log - askedAt >= pagesAtATime) {
          askedAt = log;
          move();
        }
      };
    },
    close,
  };
}
