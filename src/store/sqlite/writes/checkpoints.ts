import type { DatabaseSync } from "node:sqlite";
import type { Worker } from "node:worker_threads";
import type { LogSizes } from "../connection/connection.ts";
import { startThread } from "../connection/thread.ts";
import { readContent } from "../file/content.ts";
import type { OpenedDatabase } from "../file/guard.ts";
import type { FromCheckpointer, ToCheckpointer } from "./checkpointer.ts";

/** Moves pages of the log into the database file in a separate thread, so that no write waits for this work. */
export interface Checkpoints {
  /**
   * Turns off SQLite's own checkpoints of a writing connection and replaces them. `sizes` returns the sizes of the log.
   * Returns a function that must be called after each commit of the connection.
   */
  takeOver(database: DatabaseSync, sizes: (() => LogSizes) | null): () => void;
  /** Stops the thread, so that the connection of the writer can close last. */
  close(): Promise<void>;
}

/**
 * The number of new pages after which the thread moves them. SQLite itself waits for a thousand. A commit waits for the
 * disk while these pages are synced: 14 ms for a thousand pages that are spread over the file, 5 ms for this number.
 */
const pagesAtATime = 250;

/**
 * The length of the log, in pages, from which it should restart at its beginning. The writer tries this when almost all
 * pages are moved.
 */
const longLog = 2000;
/** If a reader prevents the restart, the writer tries again after this many more pages. */
const retryPages = 500;

/** The time after which an idle thread is stopped, in milliseconds. */
const idleMs = 30_000;

/**
 * Runs checkpoints in a separate thread. SQLite itself would move the pages within the commit that makes the log a
 * thousand pages long, and that write and all later ones would wait for the disk. The log can restart only if all pages
 * are moved, and only a writer can restart it. So the writer itself moves the few pages that were added in the
 * meantime.
 */
export function createCheckpoints(data: OpenedDatabase): Checkpoints {
  let worker: Worker | null = null;
  let idleTimer: NodeJS.Timeout | null = null;
  let isMoving = false;
  let knownContent = data.content;

  function start(): Worker {
    const started = startThread<FromCheckpointer>(import.meta.url, "checkpointer", {
      workerData: data,
      youngMb: 1,
      members: ["moved"],
      onMessage({ moved }) {
        knownContent = moved ?? knownContent;
        isMoving = false;
        idleTimer = setTimeout(() => void close(), idleMs).unref();
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
    if (idleTimer !== null) clearTimeout(idleTimer);
    idleTimer = null;
    isMoving = true;
    (worker ??= start()).postMessage({ knownContent } satisfies ToCheckpointer);
  }

  async function close(): Promise<void> {
    if (idleTimer !== null) clearTimeout(idleTimer);
    const ending = worker;
    worker = idleTimer = null;
    isMoving = false;
    await ending?.terminate();
  }

  return {
    takeOver(database, sizes) {
      // Without the sizes, SQLite runs the checkpoints of this connection itself.
      if (sizes === null) return () => {};
      database.exec("PRAGMA wal_autocheckpoint = 0");
      let askedAt = 0;
      let retryAt = longLog;
      return () => {
        const [log, moved] = sizes();
        // The log is shorter than before, so it has restarted.
        if (log < askedAt) [askedAt, retryAt] = [0, longLog];
        if (isMoving) return;
        // The writer moves the remaining pages itself if they are few: fewer than 250, or less than an eighth of a long
        // log. With a fixed limit, a log that grows faster than the thread moves it would never restart.
        if (log >= retryAt && log - moved < Math.max(retryPages / 2, log / 8)) {
          // If the file was overwritten, a checkpoint would hide this.
          if (typeof readContent(data.path, knownContent) !== "string") database.exec("PRAGMA wal_checkpoint(PASSIVE)");
          retryAt = log + retryPages;
        } else if (log - moved >= pagesAtATime && log - askedAt >= pagesAtATime) {
          askedAt = log;
          move();
        }
      };
    },
    close,
  };
}
