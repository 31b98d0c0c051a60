import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { connect, prepare, prepareLogSizes, type LogSizes, type PreparedStatement } from "../connection.ts";
import { readContent, type Content } from "../file/content.ts";
import { syncFile } from "../file/descriptor.ts";
import type { OpenedDatabase } from "../file/guard.ts";
import { createLogChecks, type LogChecks } from "../file/log.ts";
import { requireInPlace } from "../file/place.ts";
import { lowerPriority } from "../thread.ts";

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
  const moveLog = createCheckpointer(opened, createLogChecks(opened.path, opened.files));
  port.on("message", ({ knownContent }: Partial<ToCheckpointer>) => {
    // Node sends other messages over the same port (`node --watch`).
    if (knownContent === undefined) return;
    port.postMessage({ moved: moveLog(knownContent) } satisfies FromCheckpointer);
  });
}

/**
 * Returns a function that runs a checkpoint. It returns null if the checkpoint failed. The content then stays in the log until the next
 * checkpoint.
 */
export function createCheckpointer(
  { path, files }: OpenedDatabase,
  checks: LogChecks,
): (knownContent: Content | null) => Content | null {
  // Kept for all checkpoints, because a new connection takes a third of a millisecond to parse the schema.
  let connection: CheckpointConnection | null = null;

  function moveLog(knownContent: Content | null): Content | null {
    requireInPlace(path, files);
    // If the file was overwritten, a checkpoint would hide this from later checks.
    if (typeof readContent(path, knownContent) === "string") return null;
    connection ??= openConnection(path);
    // The file may have been replaced before the connection opened it.
    requireInPlace(path, files);
    // A checkpoint of a log that was overwritten damages the file.
    checks.everything(connection.sizes);
    const revision = connection.readRevision.get()![0] as number;
    const [, pages, movedPages] = connection.checkpoint.get() as [number, number, number];
    // SQLite syncs the file only when the whole log is moved. The writer moves the last pages, and would then sync the file while other
    // writes wait.
    syncFile(path);
    if (movedPages === pages) return { revision, size: statSync(path).size };
    // Pages that a reader needs stayed in the log, perhaps with this revision.
    const moved = readContent(path, knownContent);
    return typeof moved === "string" ? null : moved;
  }

  return (knownContent) => {
    try {
      return moveLog(knownContent);
    } catch {
      connection?.database.close();
      connection = null;
      return null;
    }
  };
}

interface CheckpointConnection {
  readonly database: DatabaseSync;
  readonly sizes: (() => LogSizes) | null;
  readonly readRevision: PreparedStatement;
  readonly checkpoint: PreparedStatement;
}

function openConnection(path: string): CheckpointConnection {
  const database = connect(path);
  return {
    database,
    sizes: prepareLogSizes(database),
    readRevision: prepare(database, "SELECT revision FROM latchkey_revision"),
    checkpoint: prepare(database, "PRAGMA wal_checkpoint(PASSIVE)"),
  };
}

if (parentPort !== null) {
  // The same low priority as the writer thread, so that reads do not wait for this thread if all threads share one core.
  lowerPriority(5);
  move(parentPort, workerData as OpenedDatabase);
}
