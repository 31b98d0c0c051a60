/** Runs what it is given: so many at once, and the others when their turn comes. */
export type Share = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * The share of the connections that long reads have together: half of them. One caller has two such reads at once, each for some seconds,
 * and a handful of callers would have all connections, so that whatever else is read or written waits for them.
 */
export function shareOf(connections: number): Share {
  const most = Math.max(1, connections >> 1);
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Whoever waits has the place of the one before. */
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
