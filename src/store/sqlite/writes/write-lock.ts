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
 * How long a process writes before it pauses, if it shares the file, and how long it pauses, in milliseconds. Other processes get the lock
 * during the pause. Shorter times cost more, because each process must then read the changes of the others more often.
 */
const turnMs = 25;
const restMs = 2;
/** How long the file counts as shared after another process has written to it, in milliseconds. */
const rememberMs = 1000;

/**
 * Makes processes write one after the other. SQLite has no queue: a waiting process checks less and less often whether the file is free, in
 * the end ten times a second, while the process that wrote continues at once. So one process could wait for seconds. Here each process
 * checks once a millisecond, and pauses regularly if other processes write too.
 */
export function makeWriteLock(database: DatabaseSync, busyMs: number): WriteLock {
  waitForNobody(database);
  const begin = prepare(database, "BEGIN IMMEDIATE");
  let turnBegan = 0;
  let endedAt = 0;
  let metAt = -Infinity;

  /** Pauses, unless the file was free long enough since the last write. */
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

/** Runs a task as soon as no other process writes. Runs it again if another process writes first. Throws if this takes too long. */
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
