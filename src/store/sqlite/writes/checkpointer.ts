import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { connect, prepareLogSizes } from "../connection/connection.ts";
import { lowerPriority } from "../connection/thread.ts";
import { readContent, type Content } from "../file/content.ts";
import { syncFile } from "../file/descriptor.ts";
import type { OpenedDatabase } from "../file/guard.ts";
import { createLogChecks, type LogChecks } from "../file/log.ts";
import { requireInPlace } from "../file/place.ts";

/** A request for a checkpoint: SQLite copies the pages of the log into the database file. */
export interface ToCheckpointer {
  /** The last known state of the file. */
  readonly knownContent: Content | null;
}

/** The answer, sent after the checkpoint. */
export interface FromCheckpointer {
  /** The state of the file after the checkpoint. Null if the checkpoint failed. */
  readonly moved: Content | null;
}

/** Runs the thread that makes checkpoints while others read and write. */
function move(port: MessagePort, opened: OpenedDatabase): void {
  const checks = createLogChecks(opened.path, opened.files);
  port.on("message", ({ knownContent }: Partial<ToCheckpointer>) => {
    // Node sends other messages over the same port (`node --watch`).
    if (knownContent === undefined) return;
    port.postMessage({ moved: moveLog(opened, knownContent, checks) } satisfies FromCheckpointer);
  });
}

/** Runs a checkpoint. Returns null if it failed. The content then stays in the log until the next checkpoint. */
export function moveLog(
  { path, files }: OpenedDatabase,
  knownContent: Content | null,
  checks: LogChecks,
): Content | null {
  try {
    requireInPlace(path, files);
    // Opens a connection for each checkpoint, which takes a millisecond. The file of a kept connection may have been
    // replaced. At the stop, a kept connection may be the last one, and then SQLite would remove the log of another
    // program.
    const database = connect(path);
    try {
      // If the file was overwritten, a checkpoint would hide this from later checks.
      if (typeof readContent(path, knownContent) === "string") return null;
      // A checkpoint of a log that was overwritten damages the file.
      checks.everything(prepareLogSizes(database));
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      // SQLite syncs the file only when the whole log is moved. The writer moves the last pages, and would then sync
      // the file while other writes wait.
      syncFile(path);
      const moved = readContent(path, knownContent);
      return typeof moved === "string" ? null : moved;
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

if (parentPort !== null) {
  // The same low priority as the writer thread, so that reads do not wait for this thread if all threads share one
  // core.
  lowerPriority(5);
  move(parentPort, workerData as OpenedDatabase);
}
