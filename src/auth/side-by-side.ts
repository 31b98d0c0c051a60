import type { Eventually } from "../eventually.ts";

/** Runs a task for some subjects beside no more others of theirs than may all fail. `room` says how many may, and throws where none may. */
export type SideBySide = <T>(
  subjects: readonly string[],
  room: () => Eventually<number>,
  task: () => Promise<T>,
) => Promise<T>;

/** Makes the count of what is under way: without it a burst would get past a limit before its first failure is known. */
export function makeSideBySide(): SideBySide {
  const underway = new Map<string, number>();
  let settled = Promise.withResolvers<void>();

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

  return async (subjects, room, task) => {
    for (let left = await room(); crowd(subjects) >= left; left = await room()) await settled.promise;
    count(subjects, 1);
    try {
      return await task();
    } finally {
      count(subjects, -1);
      settled.resolve();
      settled = Promise.withResolvers();
    }
  };
}
