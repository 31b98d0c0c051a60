import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { pickSearched } from "../../searched.ts";
import { comparingFolded } from "../../sql/folding.ts";
import { indexInBackground } from "../../sql/indexing.ts";
import type { Shapes } from "../../sql/schema/table-shape.ts";
import { takeSomeWords } from "../../sql/word-index.ts";
import type { Collection } from "../../store.ts";
import { connect, prepareLogSizes, playOn, type LogSizes } from "../connection/connection.ts";
import { toFailure, type Failure } from "../connection/errors.ts";
import { lowerPriority } from "../connection/thread.ts";
import { whenFree } from "../connection/write-lock.ts";
import { getTable } from "../dialect.ts";
import type { OpenedDatabase } from "../file/guard.ts";
import { createLogChecks } from "../file/log.ts";
import { isLogRemoved, requireInPlace, type FilesInUse } from "../file/place.ts";
import type { NamedTransaction, Result } from "../named.ts";
import { sqliteSchema } from "../table-changes/migration.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { createCommitter, type Committer } from "./transactions.ts";

/** The data that the writer thread starts with. */
export interface WriterData extends OpenedDatabase {
  /** How long a group waits for a write of another process, in milliseconds. */
  readonly busyMs: number;
  readonly collections: readonly Collection[];
  /** The shapes of the tables when they matched the declaration. */
  readonly shapes: Shapes;
}

/** A message to the thread: a group of transactions as JSON, or null to stop the thread. */
export type ToWriter = string | null;

/** The answer to each group: the results in the same order, or the error if the whole group failed. */
export type FromWriter =
  | { readonly results: readonly SomeResults[] }
  | { readonly failed: Failure; readonly count: number };

/**
 * Some results as JSON. They are split into several texts, so that the first callers do not wait until all results are
 * parsed.
 */
export interface SomeResults {
  readonly count: number;
  readonly json: string;
}

/** The length after which a text with results ends, in characters. */
const longestResults = 64 * 1024;

/**
 * The pause between two portions of the indexing, in milliseconds. Writers wait about five milliseconds for each
 * portion.
 */
const indexingPauseMs = 100;

/** Runs the writer thread. It commits each group with one disk sync. */
function write(port: MessagePort, { path, files, content, busyMs, collections, shapes }: WriterData): void {
  const checks = createLogChecks(path, files);
  let sizes: (() => LogSizes) | null = null;
  let database: DatabaseSync | null = null;
  let committer: Committer | null = null;
  let committed = (): void => {};
  const checkpoints = createCheckpoints({ path, files, content });
  const takeSome = takingIn(collections, busyMs);
  const indexing = takeSome === null ? null : indexInBackground(index, () => indexingPauseMs);

  const hear = (message: ToWriter): void => {
    if (message !== null) {
      port.postMessage(commit(valueOfJSON(message) as NamedTransaction[]));
      // The responses are already sent, so no writer waits for this.
      moveLog();
      return indexing?.written();
    }
    indexing?.stop();
    void checkpoints.close().then(() => {
      database?.close();
      // Without a listener, the thread exits. Deno cannot close the port.
      port.off("message", hear);
    });
  };
  port.on("message", hear);

  function connected(): DatabaseSync {
    if (database !== null) return database;
    // If the file was replaced, a new connection would write into another database, or create one.
    requireInPlace(path, files);
    database = connect(path, busyMs);
    sizes = prepareLogSizes(database);
    committed = checkpoints.takeOver(database, sizes);
    return database;
  }

  function commit(group: readonly NamedTransaction[]): FromWriter {
    try {
      const writes = connected();
      committer ??= createCommitter(writes, collections, { shapes, busyMs });
      checks.beforeWrite(sizes);
      const results: Result[] = committer.commit(group);
      checks.beforeAcknowledgment(sizes);
      return { results: inTexts(results) };
    } catch (error) {
      const failed = toFailure(resolveCause(error, () => checks.everything(sizes)));
      // After any error, the next group gets a new connection.
      disconnect();
      return { failed, count: group.length };
    }
  }

  function moveLog(): void {
    try {
      if (database !== null) committed();
    } catch {
      // The rows are committed and in the log. The next write shows whether the disk works.
      disconnect();
    }
  }

  function index(): boolean {
    try {
      const writes = connected();
      checks.everything(sizes);
      const hasTaken = takeSome?.(writes) === true;
      checks.everything(sizes);
      if (hasTaken) committed();
      return hasTaken;
    } catch (error) {
      disconnect();
      throw error;
    }
  }

  function disconnect(): void {
    if (database !== null) giveUp(database, path, files);
    database = committer = null;
  }
}

function inTexts(results: readonly Result[]): SomeResults[] {
  const texts: SomeResults[] = [];
  let some: string[] = [];
  let length = 0;
  for (const [at, result] of results.entries()) {
    const json = JSON.stringify(result);
    some.push(json);
    length += json.length;
    if (length < longestResults && at < results.length - 1) continue;
    texts.push({ count: some.length, json: `[${some.join(",")}]` });
    some = [];
    length = 0;
  }
  return texts;
}

/** Runs a portion of the indexing. Returns false if nothing is left to do. */
type TakeSome = (writes: DatabaseSync) => boolean;

/**
 * Returns the function that updates the word index of these collections and corrects their folded values. Returns null
 * if no column is searched or folded.
 */
function takingIn(collections: readonly Collection[], busyMs: number): TakeSome | null {
  const searched = pickSearched(collections).map(getTable);
  const comparing = comparingFolded(sqliteSchema, collections, { getTable, now: () => performance.now() });
  if (searched.length === 0 && comparing === null) return null;
  return (writes) => {
    if (whenFree(writes, busyMs, () => playOn(writes, takeSomeWords(sqliteSchema, searched)))) return true;
    if (comparing === null) return false;
    try {
      return whenFree(writes, busyMs, () => playOn(writes, comparing.next()));
    } catch (error) {
      comparing.failed();
      throw error;
    }
  };
}

/** Returns the real cause of an error. If the log was cut off, SQLite reports only a disk error. */
function resolveCause(error: unknown, check: () => void): unknown {
  try {
    check();
    return error;
  } catch (found) {
    return found;
  }
}

function giveUp(database: DatabaseSync, path: string, files: FilesInUse): void {
  try {
    // If the log was removed, its content would be lost when the last process closes the file. So it is moved into the
    // file now.
    if (isLogRemoved(path, files)) database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // The checks report the removed log at each write.
  }
  try {
    database.close();
  } catch {
    // The connection is no longer used, even if it cannot be closed.
  }
}

if (parentPort !== null) {
  // Lowers the priority of this thread, so that the thread that answers requests does not wait for a processor.
  lowerPriority(5);
  write(parentPort, workerData as WriterData);
}
