import { fdatasyncSync } from "node:fs";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { connect } from "../connection.ts";
import { sharedBy, untouchedOf, type Opened } from "../file/opened.ts";
import { giveWay } from "../thread.ts";

/** The answer to each `"move"`, sent when the checkpoint is over. */
export interface FromCheckpointer {
  readonly moved: boolean;
}

/** Runs the thread that moves the log into the file, while others read and write. */
function move(port: MessagePort, opened: Opened): void {
  const requireUntouched = untouchedOf(opened);
  port.on("message", (message: unknown) => {
    if (message !== "move") return;
    port.postMessage({ moved: tryToMove(opened, requireUntouched) } satisfies FromCheckpointer);
  });
}

/** Runs a checkpoint. Returns false if that failed: the content stays in the log, and the next checkpoint moves it. */
function tryToMove(opened: Opened, requireUntouched: () => void): boolean {
  try {
    requireUntouched();
    // A new connection for each checkpoint takes a millisecond. A kept one could belong to a file that is no longer
    // there.
    const database = connect(opened.path);
    try {
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      // SQLite syncs the file when the whole log is moved. The writer would do that, and other writes would wait for
      // all moved pages.
      if (opened.descriptors !== null) fdatasyncSync(opened.descriptors.file);
      return true;
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

if (parentPort !== null) {
  // Like the writer thread: readers do not wait for it if all threads share one core.
  giveWay(5);
  move(parentPort, sharedBy(workerData as Opened));
}
