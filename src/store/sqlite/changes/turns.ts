import { rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { messageOfThrown } from "../../../core/checking/thrown.ts";
import { MigrationNeeded, StoreFull } from "../../store.ts";
import { isBusy, isStoreFailure } from "../errors.ts";
import { DatabaseSync as Database } from "../node-sqlite.ts";
import { pauseThread } from "../thread.ts";

/** How long to go on looking for a moment in which nobody writes, in milliseconds. */
const patienceMs = 60_000;

/** How many rows a portion begins with, and has at least and at most where rows are as usual. */
export const firstPortion = 100;
const mostRows = 2000;
/** How long one may take, in milliseconds: whoever writes waits for it. */
const portionMs = 15;

/** How many rows the next portion has, when one of so many took so long. Those behind it may be larger. */
export function nextPortion(rows: number, tookMs: number): number {
  const fitting = Math.round((rows * portionMs) / Math.max(tookMs, 1));
  // On a busy machine a few rows may take a while for other reasons; fewer would take as long.
  const least = tookMs > 4 * portionMs ? 1 : Math.min(rows, firstPortion);
  return Math.min(Math.max(fitting, least), rows * 2, mostRows);
}

/** What is there cannot become what is declared. Everything else (a full disk, a lock) passes, and what was copied stays. */
export class Unfit extends Error {
  override readonly name = "Unfit";
}

/** Only one migrates at a time. The lock is a file's beside the database, which the system lets go when the process ends. */
export function takeTurn(path: string): () => void {
  const beside = `${path}.migrating`;
  const lock = new Database(beside, { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new MigrationNeeded([`Somebody else is migrating ${path} just now. Wait until that is done.`]);
  }
  return () => {
    rmSync(beside, { force: true });
    lock.close();
  };
}

/** All of a task or nothing, as soon as nobody else writes. */
export async function inTransaction<T>(database: DatabaseSync, task: () => T): Promise<T> {
  await begun(database);
  try {
    const done = task();
    database.exec("COMMIT");
    return done;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** All of a task or nothing, as soon as nobody else writes. What fails for the sake of the rows is `Unfit`. */
export function change<T>(database: DatabaseSync, task: () => T): Promise<T> {
  return inTransaction(database, () => {
    try {
      return task();
    } catch (error) {
      if (error instanceof StoreFull || isStoreFailure(error)) throw error;
      throw new Unfit(messageOfThrown(error), { cause: error });
    }
  });
}

/**
 * Between two groups of a busy service the file is free for a moment only. SQLite would look for it ten times a second, and hardly ever hit
 * one.
 */
async function begun(database: DatabaseSync): Promise<void> {
  const start = performance.now();
  database.exec("PRAGMA busy_timeout = 0");
  for (let tries = 1; ; tries++) {
    try {
      return database.exec("BEGIN IMMEDIATE");
    } catch (error) {
      if (!isBusy(error) || performance.now() - start > patienceMs) throw error;
    }
    if (tries % 50 === 0) await sleep(1);
    else pauseThread(0.1);
  }
}
