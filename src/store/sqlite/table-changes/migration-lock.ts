import { rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOfThrown } from "../../../core/checking/thrown.ts";
import { MigrationNeeded, StoreFull } from "../../store.ts";
import { isBusy, isStoreFailure } from "../connection/errors.ts";
import { DatabaseSync as Database } from "../connection/node-sqlite.ts";
import { pauseThread } from "../connection/thread.ts";

/** The longest wait until no other connection writes, in milliseconds. */
const longestWaitMs = 60_000;

/**
 * The number of rows in the first batch. Later batches have fewer rows than this only if a batch takes more than four
 * times `portionMs`.
 */
export const FIRST_BATCH = 100;
const mostRows = 2000;
/** The target time for a batch, in milliseconds. It is short, because other writers wait for a batch. */
const portionMs = 15;

/**
 * Returns the number of rows in the next batch, given the rows and the duration of the last one. The next batch has at
 * most twice as many rows, because they may be larger.
 */
export function nextBatchSize(rows: number, tookMs: number): number {
  const fitting = Math.round((rows * portionMs) / Math.max(tookMs, 1));
  // On a busy machine, a few rows may take long for other reasons. A smaller batch would then not be faster.
  const least = tookMs > 4 * portionMs ? 1 : Math.min(rows, FIRST_BATCH);
  return Math.min(Math.max(fitting, least), rows * 2, mostRows);
}

/**
 * Thrown if existing rows cannot be converted to the declaration. After an error with another cause, for example a full
 * disk or a lock, the next attempt continues with the rows that are already copied.
 */
export class RowsDoNotFit extends Error {
  override readonly name = "Unfit";
}

/**
 * Takes the lock for migrations, because only one migration may run at a time. Returns a function that releases the
 * lock. The lock is on a file next to the database. The operating system releases it when the process exits.
 */
export function takeMigrationLock(path: string): () => void {
  const file = `${path}.migrating`;
  const lock = new Database(file, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new MigrationNeeded([`Another process is migrating ${path}. Wait until it has finished.`]);
  }
  return () => {
    rmSync(file, { force: true });
    lock.close();
  };
}

/** Runs a task in a transaction, as soon as no other connection writes. */
export async function inTransaction<T>(database: DatabaseSync, task: () => T): Promise<T> {
  await beginWhenFree(database);
  try {
    const done = task();
    database.exec("COMMIT");
    return done;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Runs a task in a transaction, as soon as no other connection writes. Throws `RowsDoNotFit` if the rows cause an
 * error.
 */
export function runStep<T>(database: DatabaseSync, task: () => T): Promise<T> {
  return inTransaction(database, () => {
    try {
      return task();
    } catch (error) {
      if (error instanceof StoreFull || isStoreFailure(error)) throw error;
      throw new RowsDoNotFit(messageOfThrown(error), { cause: error });
    }
  });
}

/**
 * Begins a write transaction as soon as no other connection writes. A busy service unlocks the file only for a moment
 * between two groups of writes. A waiting SQLite tries again only ten times a second and almost always misses that
 * moment.
 */
async function beginWhenFree(database: DatabaseSync): Promise<void> {
  const start = performance.now();
  database.exec("PRAGMA busy_timeout = 0");
  for (let tries = 1; ; tries++) {
    try {
      return database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > longestWaitMs) throw error;
    }
    if (tries % 50 === 0) await sleep(1);
    else pauseThread(0.1);
  }
}
