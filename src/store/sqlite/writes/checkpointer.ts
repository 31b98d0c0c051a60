import { fdatasyncSync } from "node:fs";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { connect } from "../connection.ts";
import { sharedBy, untouchedOf, type Opened } from "../file/opened.ts";
import { giveWay } from "../thread.ts";

/** It is sent `"move"` for each checkpoint, and answers when it is over. */
export interface FromCheckpointer {
  readonly moved: boolean;
}

/** The thread that moves the log into the file, while others read and write. */
function move(port: MessagePort, opened: Opened): void {
  const requireUntouched = untouchedOf(opened);
  port.on("message", (message: unknown) => {
    if (message !== "move") return;
    port.postMessage({ moved: tryToMove(opened, requireUntouched) } satisfies FromCheckpointer);
  });
}

/** False where it could not: what is in the log stays there, and the next time all of it is moved. */
function tryToMove(opened: Opened, requireUntouched: () => void): boolean {
  try {
    requireUntouched();
    // A connection for each: it takes a millisecond, and none is left that belongs to a file which is no longer there.
    const database = connect(opened.path);
    try {
      database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      // SQLite syncs the file when all of the log is in it: that is in the writer's turn, and whoever writes would wait for all that was moved here.
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
  // As the thread that writes: nobody who reads waits for it where there is one core for all.
  giveWay(5);
  move(parentPort, sharedBy(workerData as Opened));
}
