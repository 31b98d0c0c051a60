import { rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { MigrationNeeded } from "../../store.ts";
import { isBusy } from "../errors.ts";
import { DatabaseSync as Database } from "../node-sqlite.ts";

/** How long to go on looking for a moment in which nobody writes, in milliseconds. */
const patienceMs = 60_000;

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
    else Atomics.wait(moment, 0, 0, 0.1);
  }
}

const moment = new Int32Array(new SharedArrayBuffer(4));
