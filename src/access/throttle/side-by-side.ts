import type { Eventually } from "../../core/eventually.ts";

/** An allowance: failures count against `subject`, and `left` more may be wrong. */
export interface Room {
  readonly subject: string;
  readonly left: number;
}

/** Runs a task once fewer others of each subject are under way than may still fail. `rooms` gives the allowances, and throws if one is used up. */
export type SideBySide = <T>(rooms: () => Eventually<readonly Room[]>, task: () => Promise<T>) => Promise<T>;

interface Waiter {
  /** The allowances, as `rooms` gave them last. */
  readonly rooms: readonly Room[];
  readonly go: () => void;
}

/** Makes the count of what is under way: without it a burst would get past a limit before its first failure is known. */
export function makeSideBySide(): SideBySide {
  const underway = new Map<string, number>();
  const waiters = new Set<Waiter>();

  function isFull(rooms: readonly Room[]): boolean {
    return rooms.some(({ subject, left }) => (underway.get(subject) ?? 0) >= left);
  }

  function count(rooms: readonly Room[], step: 1 | -1): void {
    for (const { subject } of rooms) {
      const now = (underway.get(subject) ?? 0) + step;
      if (now === 0) underway.delete(subject);
      else underway.set(subject, now);
    }
  }

  /** One at a time: each asks the store again, and may leave no room for the next. */
  function wake(): void {
    for (const waiter of waiters) {
      if (isFull(waiter.rooms)) continue;
      waiters.delete(waiter);
      return waiter.go();
    }
  }

  async function enter(ask: () => Eventually<readonly Room[]>): Promise<readonly Room[]> {
    try {
      let rooms = await ask();
      for (; isFull(rooms); rooms = await ask()) {
        const woken = Promise.withResolvers<void>();
        waiters.add({ rooms, go: woken.resolve });
        wake();
        await woken.promise;
      }
      count(rooms, 1);
      return rooms;
    } finally {
      wake();
    }
  }

  return async (ask, task) => {
    const rooms = await enter(ask);
    try {
      return await task();
    } finally {
      count(rooms, -1);
      wake();
    }
  };
}
