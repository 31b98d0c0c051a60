/** Runs work when a permit is free. Until then, the work waits in a queue. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a semaphore with this number of permits, at least one. */
export function semaphore(permits: number): Semaphore {
  const most = Math.max(1, permits);
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Passes the permit to the first waiting work, or frees it if none is waiting. */
  function leave(): void {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }

  return async (work) => {
    const permit = Promise.withResolvers<void>();
    if (running < most) permit.resolve(void running++);
    else waiting.push(permit.resolve);
    await permit.promise;
    return work().finally(leave);
  };
}
