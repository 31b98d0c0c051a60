/**
 * The target time of one write that deletes expired data, in milliseconds. It does not include the fixed cost of every
 * write. Other writers wait for that write.
 */
const AIM_MS = 5;

/**
 * The smallest and the largest number of rows in one write that deletes expired data. The first write has the smallest
 * number. The number then grows as far as `AIM_MS` allows. It cannot be constant, because a row with many indexes, or
 * with unordered keys, can cost a hundred times more than another row.
 */
const rowsAtATime = { least: 10, most: 500 } as const;

/**
 * The number of portions that are measured before their size changes. Only the time of the fastest portion counts,
 * because the slower portions may have waited for other writers.
 */
const tries = 3;

/** Adapts the number of rows in a portion to the times of earlier portions. */
export interface PortionSize {
  /** Returns the number of rows for the next portion. */
  rows(): number;
  /** Receives the time of a portion, in milliseconds. */
  took(ms: number): void;
}

/**
 * After a write of at most this time, in milliseconds, the pause is as long as the write. After a slower write, the
 * pause is longer.
 */
const EASY_MS = 20;

/** The longest pause, in milliseconds. After a write that took even longer, the pause is as long as the write. */
export const LONGEST_PAUSE_MS = 2000;

/**
 * Returns the pause after a write, in milliseconds. It is at least as long as the write, so that other writers get at
 * least half of the time. After a slow write, other writers get a larger share, because they or a busy disk may have
 * made it slow.
 */
export function pauseMs(tookMs: number): number {
  return Math.min(tookMs * Math.max(1, tookMs / EASY_MS), Math.max(LONGEST_PAUSE_MS, tookMs));
}

/** Returns the size of portions, based on the times of earlier portions. */
export function portionSize(): PortionSize {
  let rows: number = rowsAtATime.least;
  let leastMs = Infinity;
  let tried: number[] = [];
  return {
    rows: () => rows,
    took(ms) {
      // Every write has a fixed cost: the disk sync, or the trip to the database. Fewer rows would not reduce it.
      leastMs = Math.min(leastMs, ms);
      tried.push(ms);
      if (tried.length < tries) return;
      // The disk may have become slower. So portions of the smallest size measure the fixed cost again: their rows add
      // little time to it.
      if (rows === rowsAtATime.least) leastMs = Math.min(...tried);
      const fitting = Math.round((rows * AIM_MS) / Math.max(Math.min(...tried) - leastMs, 1));
      rows = Math.max(rowsAtATime.least, Math.min(fitting, rows * 2, rowsAtATime.most));
      tried = [];
    },
  };
}
