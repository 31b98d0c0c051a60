import type { Eventually } from "../../core/eventually.ts";

/** Runs a task for some subjects beside no more others of theirs than may all fail. `room` says how many may, and throws where none may. */
export type SideBySide = <T>(
  subjects: readonly string[],
  room: () => Eventually<number>,
  task: () => Promise<T>,
) => Promise<T>;

interface Waiter {
  readonly subjects: readonly string[];
  /** How many may run, as `room` said last. */
  readonly left: number;
  readonly go: () => void;
}

/** Makes the count of what is under way: without it a burst would get past a limit before its first failure is known. */
export function makeSideBySide(): SideBySide {
  const underway = new Map<string, number>();
  const waiters = new Set<Waiter>();

  function crowd(subjects: readonly string[]): number {
    return Math.max(...subjects.map((subject) => underway.get(subject) ?? 0));
  }

  function count(subjects: readonly string[], step: 1 | -1): void {
    for (const subject of subjects) {
      const now = (underway.get(subject) ?? 0) + step;
      if (now === 0) underway.delete(subject);
      else underway.set(subject, now);
    }
  }

  /** One at a time: each asks the store again, and may leave no room for the next. */
  function wake(): void {
    for (const waiter of waiters) {
      if (crowd(waiter.subjects) >= waiter.left) continue;
      waiters.delete(waiter);
      return waiter.go();
    }
  }

  async function enter(subjects: readonly string[], room: () => Eventually<number>): Promise<void> {
    try {
      for (let left = await room(); crowd(subjects) >= left; left = await room()) {
        const woken = Promise.withResolvers<void>();
        waiters.add({ subjects, left, go: woken.resolve });
        wake();
        await woken.promise;
      }
      count(subjects, 1);
    } finally {
      wake();
    }
  }

  return async (subjects, room, task) => {
    await enter(subjects, room);
    try {
      return await task();
    } finally {
      count(subjects, -1);
      wake();
    }
  };
}
