import type { Eventually } from "../../core/eventually.ts";
import type { Room } from "./window.ts";

/**
 * Runs a task when fewer others of each subject are running than may still fail. `rooms` returns the remaining failures, and throws if
 * there are none.
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

/** Counts the running tasks. Otherwise many concurrent tasks would pass the limit before their first failure is known. */
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

  /** One at a time: each reads the store again, and may leave no room for the next. */
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
        // All at the same moment: failures of the first may have been counted while the last one was read.
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
