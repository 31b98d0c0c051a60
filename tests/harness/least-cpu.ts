/** The number of measurements. The least one counts, because a busy machine can only add to the time. */
const MEASUREMENTS = 4;

/**
 * Returns the CPU time of this thread for some work, in milliseconds: the least of a few runs. One run below `enoughMs`
 * is enough.
 */
export function leastCPUms(enoughMs: number, work: () => unknown): number {
  let least = Infinity;
  for (let at = 0; at < MEASUREMENTS && least >= enoughMs; at++) {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
