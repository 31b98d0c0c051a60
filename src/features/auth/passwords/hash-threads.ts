/** The default and the maximum number of libuv threads. */
const USUAL_THREADS = 4;
const MOST_THREADS = 1024;

/**
 * Returns how many passwords are hashed at the same time: at most one per core, and at most one fewer than libuv has
 * threads, but at least one. The last thread stays free for compressing responses and for signing and verifying tokens,
 * unless it is the only one. `setting` is UV_THREADPOOL_SIZE.
 */
export function hashesAtOnce(cores: number, setting: string | undefined): number {
  const requestedThreads = setting === undefined ? USUAL_THREADS : Number.parseInt(setting, 10);
  const threads = Math.min(MOST_THREADS, Math.max(1, Number.isNaN(requestedThreads) ? 1 : requestedThreads));
  return Math.max(1, Math.min(cores, threads - 1));
}
