/** Runs work when a permit is free. All work waits in one line. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** Makes a semaphore with so many permits, at least one. */
export function semaphore(permits: number): Semaphore {
  const most = Math.max(1, permits);
  const waiting: (() => void)[] = [];
  let running = 0;

  /** The first that waits gets the permit. */
  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }

  return async (work) => {
    const turn = Promise.withResolvers<void>();
    if (running < most) turn.resolve(void running++);
    else waiting.push(turn.resolve);
    await turn.promise;
    return work().finally(leave);
  };
}
