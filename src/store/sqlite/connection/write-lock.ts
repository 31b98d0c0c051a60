import type { DatabaseSync } from "node:sqlite";
import { prepare } from "./connection.ts";
import { isBusy } from "./errors.ts";
import { pauseThread } from "./thread.ts";

/** Begins write transactions, and lets other processes write in between. */
export interface WriteLock {
  /** Begins a transaction as soon as no other process writes. Throws if another process writes for too long. */
  begin(): void;
  /** Must be called after each transaction. */
  ended(): void;
}

/** The interval between attempts to lock the file, in milliseconds. */
const LOOK_MS = 1;

/**
 * If other processes also write, a process pauses for `restMs` after it has written for `turnMs`, both in milliseconds.
 * Another process gets the lock during the pause. Shorter times cost more, because each process must then read the
 * changes of the other processes more often.
 */
const turnMs = 25;
const restMs = 2;
/** How long the file counts as shared after another process had it locked, in milliseconds. */
const rememberMs = 1000;

/**
 * Shares the write lock between processes. SQLite has no queue for it: a waiting process tries less and less often, in
 * the end ten times a second, while the process with the lock takes it again at once. So one process could wait for
 * seconds. Here each process tries once a millisecond, and pauses regularly if other processes write too.
 */
export function makeWriteLock(database: DatabaseSync, busyMs: number): WriteLock {
  waitForNobody(database);
  const begin = prepare(database, "BEGIN IMMEDIATE");
  let turnBegan = 0;
  let endedAt = 0;
  let lockedByOthersAt = -Infinity;

  /**
   * Pauses if this process has written for more than `turnMs` and the file is shared. The time since its last write
   * counts as a part of the pause.
   */
  function pauseIfShared(): void {
    const now = performance.now();
    const isOver = now - turnBegan > turnMs && now - lockedByOthersAt < rememberMs;
    const left = endedAt + restMs - now;
    if (left > 0 && isOver) pauseThread(left);
    if (left <= 0 || isOver) turnBegan = performance.now();
  }

  return {
    begin() {
      pauseIfShared();
      const startedAt = performance.now();
      for (;;) {
        try {
          return void begin.run();
        } catch (error) {
          lockedByOthersAt = performance.now();
          if (!isBusy(error) || lockedByOthersAt - startedAt >= busyMs) throw error;
        }
        pauseThread(LOOK_MS);
        turnBegan = performance.now();
      }
    },
    ended: () => void (endedAt = performance.now()),
  };
}

/**
 * Runs a task. Runs it again, from its start, if another process has the file locked. Throws if the file is still
 * locked after `busyMs`.
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
