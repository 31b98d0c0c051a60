/** How many threads libuv has where nobody says otherwise, and at most. */
const USUAL_THREADS = 4;
const MOST_THREADS = 1024;

/**
 * How many passwords are hashed at once: no more than there are cores, and one fewer than libuv has threads, where those are more than one. Answers are compressed and tokens
 * are signed and verified in the same threads, and each of them would wait for hashes that others have asked for. `setting` is UV_THREADPOOL_SIZE.
 */
export function hashesAtOnce(cores: number, setting: string | undefined): number {
  const asked = setting === undefined ? USUAL_THREADS : Number.parseInt(setting, 10);
  const threads = Math.min(MOST_THREADS, Math.max(1, Number.isNaN(asked) ? 1 : asked));
  return Math.max(1, Math.min(cores, threads - 1));
}
