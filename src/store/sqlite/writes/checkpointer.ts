import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { connect, prepareLogSizes } from "../connection.ts";
import { readContent, type Content } from "../file/content.ts";
import { syncFile } from "../file/descriptor.ts";
import type { OpenedDatabase } from "../file/guard.ts";
import { createLogChecks, type LogChecks } from "../file/log.ts";
import { requireInPlace } from "../file/place.ts";
import { giveWay } from "../thread.ts";

/** Asks for a checkpoint. */
export interface ToCheckpointer {
  /** The last known state of the file. */
  readonly knownContent: Content | null;
}

/** The answer, sent when the checkpoint is over. */
export interface FromCheckpointer {
  /** The state of the file after it. Null if it failed. */
  readonly moved: Content | null;
}

/** Runs the thread that moves the log into the file, while others read and write. */
function move(port: MessagePort, opened: OpenedDatabase): void {
  const checks = createLogChecks(opened.path, opened.files);
  port.on("message", ({ knownContent }: Partial<ToCheckpointer>) => {
    // Node sends other messages over the same port (`node --watch`).
    if (knownContent === undefined) return;
    port.postMessage({ moved: moveLog(opened, knownContent, checks) } satisfies FromCheckpointer);
  });
}

/** Runs a checkpoint. Returns null if that failed: the content stays in the log, and the next checkpoint moves it. */
export function moveLog(
  { path, files }: OpenedDatabase,
  knownContent: Content | null,
  checks: LogChecks,
): Content | null {
  try {
    requireInPlace(path, files);
    // Opening a connection for each checkpoint takes a millisecond. An old connection could still belong to a file that was replaced.
    const database = connect(path);
    try {
      // If the file was overwritten, a checkpoint would hide this.
      if (typeof readContent(path, knownContent) === "string") return null;
      // A checkpoint of a log that was overwritten damages the file.
      checks.everything(prepareLogSizes(database));
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      // SQLite syncs the file only after the whole log was moved, and the writer would do it while other writes wait.
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
  // Same priority as the writer thread, so that reads do not wait for it if all threads share one core.
  giveWay(5);
  move(parentPort, workerData as OpenedDatabase);
}
