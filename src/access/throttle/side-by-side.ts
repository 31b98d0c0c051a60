import type { Eventually } from "../../core/eventually.ts";
import type { Room } from "./window.ts";

/**
 * Runs a task when each subject of the task has fewer running tasks than remaining failures. A subject is an account or
 * a network whose failures are counted. `rooms` returns the remaining failures of each subject, and throws if a subject
 * has none.
 */
export type SideBySide = <T>(rooms: () => Eventually<readonly Room[]>, task: () => Promise<T>) => Promise<T>;

/** The remaining failures before the start of a task. */
interface RemainingFailures {
  readonly subject: string;
  readonly left: number;
}

interface Waiter {
  readonly seen: readonly RemainingFailures[];
  readonly go: () => void;
}

/**
 * Creates a function that limits concurrent tasks. Without the limit, an attacker could start many concurrent tasks
 * before the first failure is counted.
 */
export function makeSideBySide(): SideBySide {
  const underway = new Map<string, number>();
  const waiters = new Set<Waiter>();

  function isFull(seen: readonly RemainingFailures[]): boolean {
    return seen.some(({ subject, left }) => (underway.get(subject) ?? 0) >= left);
  }

  function count(seen: readonly RemainingFailures[], step: 1 | -1): void {
    for (const { subject } of seen) {
      const now = (underway.get(subject) ?? 0) + step;
      if (now === 0) underway.delete(subject);
      else underway.set(subject, now);
    }
  }

  /**
   * Wakes only one waiting task. The task reads the remaining failures again, and may leave no room for the next task.
   */
  function wake(): void {
    for (const waiter of waiters) {
      if (isFull(waiter.seen)) continue;
      waiters.delete(waiter);
      return waiter.go();
    }
  }

  async function enter(rooms: () => Eventually<readonly Room[]>): Promise<readonly RemainingFailures[]> {
    try {
      for (;;) {
        const loadedRooms = await rooms();
        // All numbers are read at the same moment, because a failure may have been counted for the first subject while
        // the last subject was loaded.
        const seen = loadedRooms.map(({ subject, left }) => ({ subject, left: left() }));
        if (!isFull(seen)) {
          count(seen, 1);
          return seen;
        }
        const woken = Promise.withResolvers<void>();
        waiters.add({ seen, go: woken.resolve });
        wake();
        await woken.promise;
      }
    } finally {
      wake();
    }
  }

  return async (rooms, task) => {
    const seen = await enter(rooms);
    try {
      return await task();
    } finally {
      count(seen, -1);
      wake();
    }
  };
}
