import type { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import type { LogSizes } from "../connection.ts";
import { readContent } from "../file/content.ts";
import type { OpenedDatabase } from "../file/guard.ts";
import { startThread } from "../thread.ts";
import type { FromCheckpointer, ToCheckpointer } from "./checkpointer.ts";

/** Moves pages of the log into the file in a separate thread, so no write waits for it. */
export interface Checkpoints {
  /**
   * Takes over the checkpoints of a connection that writes. `sizes` returns the sizes of its log. Returns a function to
   * call after each of its commits.
   */
  takeOver(database: DatabaseSync, sizes: (() => LogSizes) | null): () => void;
  /** Stops the thread. The caller then has the last connection to the file. */
  close(): Promise<void>;
}

/**
 * The number of pages that are moved at a time. SQLite itself moves a thousand. A commit waits for the disk while these pages are synced:
 * 14 ms for a thousand pages that are spread over the file, 5 ms for this number.
 */
const pagesAtATime = 250;

/** The length of the log, in pages, from which it should restart. It can restart when almost all of its pages are moved. */
const longLog = 2000;
/** If a reader prevents the restart, it is tried again after this many more pages. */
const retryPages = 500;

/** How long the thread stays idle before it stops, in milliseconds. */
const restMs = 30_000;

/**
 * Runs checkpoints in a separate thread. SQLite itself moves a thousand pages within the commit that reaches this number, and this write
 * and all later ones wait for the disk. Only a writer can restart the log, and only if all pages are moved, so the writer moves the few
 * pages that were added in the meantime.
 */
export function checkpointsBeside(data: OpenedDatabase): Checkpoints {
  let worker: Worker | null = null;
  let rest: NodeJS.Timeout | null = null;
  let isMoving = false;
  let knownContent = data.content;

  function start(): Worker {
    const started = startThread<FromCheckpointer>(import.meta.url, "checkpointer", {
      workerData: data,
      youngMb: 1,
      members: ["moved"],
      heard({ moved }) {
        knownContent = moved ?? knownContent;
        isMoving = false;
        rest = setTimeout(() => void close(), restMs).unref();
      },
      // The next request starts a new thread.
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
    (worker ??= start()).postMessage({ knownContent } satisfies ToCheckpointer);
  }

  async function close(): Promise<void> {
    if (rest !== null) clearTimeout(rest);
    const ending = worker;
    worker = rest = null;
    isMoving = false;
    await ending?.terminate();
  }

  return {
    takeOver(database, sizes) {
      // Without the sizes, SQLite runs the checkpoints of this connection itself.
      if (sizes === null) return () => {};
      database.exec("PRAGMA wal_autocheckpoint = 0");
      let askedAt = 0;
      let tryAnewAt = longLog;
      return () => {
        const [log, moved] = sizes();
        // The log has restarted.
        if (log < askedAt) [askedAt, tryAnewAt] = [0, longLog];
        if (isMoving) return;
        // Under heavy writing, up to an eighth of the log counts as hardly any. Otherwise a log that grows faster than
        // it is moved would never restart.
        if (log >= tryAnewAt && log - moved < Math.max(retryPages / 2, log / 8)) {
          // If the file was overwritten, a checkpoint would hide this.
          if (typeof readContent(data.path, knownContent) !== "string") database.exec("PRAGMA wal_checkpoint(PASSIVE)");
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
