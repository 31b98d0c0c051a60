/** The result of some work, and the longest time for which it blocked the event loop. */
export interface Measured<T> {
  readonly result: T;
  /**
   * The most CPU time of this thread between two ticks of the event loop, in milliseconds. A busy machine does not add
   * to it.
   */
  readonly busiestMs: number;
}

/** Measures the longest time for which work blocks the event loop. */
export async function measurePieces<T>(work: () => Promise<T>): Promise<Measured<T>> {
  let last = cpuMs();
  let busiestMs = 0;
  const note = (): void => {
    const now = cpuMs();
    busiestMs = Math.max(busiestMs, now - last);
    last = now;
  };
  let ticking = setImmediate(function tick() {
    note();
    ticking = setImmediate(tick);
  });
  try {
    const result = await work();
    note();
    return { result, busiestMs };
  } finally {
    clearImmediate(ticking);
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
