import type { DatabaseSync } from "node:sqlite";
import { prepare } from "../connection.ts";
import { isBusy } from "../errors.ts";
import { pauseThread } from "../thread.ts";

/** Begins transactions that write, in turn with other processes. */
export interface Turns {
  /** Begins one as soon as nobody else writes. Throws where somebody does for too long. */
  begin(): void;
  /** Is to be called when it has ended. */
  ended(): void;
}

/** How often it is looked whether the file is free, in milliseconds. */
const LOOK_MS = 1;

/** Who shares the file writes for so long, and then leaves it alone for a moment in which the others look, in milliseconds. What others have written has to be read anew, so that turns are no shorter. */
const turnMs = 25;
const restMs = 2;
/** For so long after others were met it is shared, in milliseconds. */
const rememberMs = 1000;

/**
 * SQLite has no queue of those who wait: it looks ever more seldom whether the file is free, ten times a second in the end, and whoever has written writes
 * on at once. One of several processes is kept waiting for seconds that way. So each looks often, and where it has met others it writes in turns.
 */
export function turnsOf(database: DatabaseSync, busyMs: number): Turns {
  waitForNobody(database);
  const begin = prepare(database, "BEGIN IMMEDIATE");
  let turnBegan = 0;
  let endedAt = 0;
  let metAt = -Infinity;

  /** Has left the file alone for long enough, by itself or now. */
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
      const asked = performance.now();
      for (;;) {
        try {
          return void begin.run();
        } catch (error) {
          metAt = performance.now();
          if (!isBusy(error) || metAt - asked >= busyMs) throw error;
        }
        pauseThread(LOOK_MS);
        turnBegan = performance.now();
      }
    },
    ended: () => void (endedAt = performance.now()),
  };
}

/** Does something as soon as nobody else writes: from the beginning where somebody does. Throws where that is for too long. */
export function whenFree<T>(database: DatabaseSync, busyMs: number, task: () => T): T {
  waitForNobody(database);
  const asked = performance.now();
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      if (!isBusy(error) || performance.now() - asked >= busyMs) throw error;
    }
    pauseThread(LOOK_MS);
  }
}

function waitForNobody(database: DatabaseSync): void {
  database.exec("PRAGMA busy_timeout = 0");
}
