import type { DatabaseSync } from "node:sqlite";
import { prepare } from "../connection.ts";
import { isBusy } from "../errors.ts";
import { pauseThread } from "../thread.ts";

/** Begins write transactions, in turns with other processes. */
export interface WriteLock {
  /** Begins a transaction as soon as no other process writes. Throws if another one writes for too long. */
  begin(): void;
  /** Must be called at the end of the transaction. */
  ended(): void;
}

/** The interval between checks whether the file is free, in milliseconds. */
const LOOK_MS = 1;

/**
 * How long a process may write if it shares the file, and how long it then pauses, in milliseconds. The others check
 * during the pause. Shorter turns cost more, because the changes of others must be read again.
 */
const turnMs = 25;
const restMs = 2;
/** How long the file counts as shared after another process was seen, in milliseconds. */
const rememberMs = 1000;

/**
 * Makes processes write in turns. SQLite has no queue for waiting processes. It checks less and less often whether the
 * file is free, in the end ten times a second, and a process that has written continues at once. With several
 * processes, one can wait for seconds. So each process checks often, and takes turns if it has seen others.
 */
export function makeWriteLock(database: DatabaseSync, busyMs: number): WriteLock {
  waitForNobody(database);
  const begin = prepare(database, "BEGIN IMMEDIATE");
  let turnBegan = 0;
  let endedAt = 0;
  let metAt = -Infinity;

  /** Makes sure that the file had a pause, or pauses now. */
  function rest(): void {
    const now = performance.now();
    const isOver = now - turnBegan > turnMs && now - metAt < rememberMs;
    const left = endedAt + restMs - now;
    if (left > 0 && isOver) pauseThread(left);
    if (left <= 0 || isOver) turnBegan = performance.now();
  }

  return {
    begin() {
      rest();
      const startedAt = performance.now();
      for (;;) {
        try {
          return void begin.run();
        } catch (error) {
          metAt = performance.now();
          if (!isBusy(error) || metAt - startedAt >= busyMs) throw error;
        }
        pauseThread(LOOK_MS);
        turnBegan = performance.now();
      }
    },
    ended: () => void (endedAt = performance.now()),
  };
}

/**
 * Runs a task as soon as no other process writes. Starts it again from the beginning if another one does. Throws if
 * that takes too long.
 */
export function whenFree<T>(database: DatabaseSync, busyMs: number, task: () => T): T {
  waitForNobody(database);
  const startedAt = performance.now();
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      if (!isBusy(error) || performance.now() - startedAt >= busyMs) throw error;
    }
    pauseThread(LOOK_MS);
  }
}

function waitForNobody(database: DatabaseSync): void {
  database.exec("PRAGMA busy_timeout = 0");
}
