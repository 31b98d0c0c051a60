/** The time for the rows of an erasing write, in milliseconds. Other writers wait for it. */
const AIM_MS = 5;

/**
 * The number of rows in such a write: few at first, then as many as that time allows. Rows with many indexes, or with unordered keys, can
 * cost a hundred times more.
 */
const rowsAtATime = { least: 10, most: 500 } as const;

/** The number of portions of one size. The fastest of them counts, because the others may have waited. */
const tries = 3;

/** The number of rows in the next portion. It receives the time of each portion, in milliseconds. */
export interface PortionSize {
  rows(): number;
  took(ms: number): void;
}

/** The erasing may use half of the time while a write takes no longer than this, in milliseconds. */
const EASY_MS = 20;

/** The longest pause, in milliseconds. Even on a slow disk, expired data is deleted at some point. */
export const LONGEST_PAUSE_MS = 2000;

/**
 * Returns the pause after a write. At least half of the time belongs to other writers. The longer a write takes, because of them or of the
 * disk, the larger their share.
 */
export function pauseMs(tookMs: number): number {
  return Math.min(tookMs * Math.max(1, tookMs / EASY_MS), Math.max(LONGEST_PAUSE_MS, tookMs));
}

/** Returns the size of portions, based on the time of earlier ones. */
export function portionSize(): PortionSize {
  let rows: number = rowsAtATime.least;
  let leastMs = Infinity;
  let tried: number[] = [];
  return {
    rows: () => rows,
    took(ms) {
      // The fixed cost of every write is the disk sync, or the way to the database. Fewer rows would not make it shorter.
      leastMs = Math.min(leastMs, ms);
      tried.push(ms);
      if (tried.length < tries) return;
      // The disk may have been faster before: the smallest portion takes hardly more than the fixed cost of a write now.
      if (rows === rowsAtATime.least) leastMs = Math.min(...tried);
      const fitting = Math.round((rows * AIM_MS) / Math.max(Math.min(...tried) - leastMs, 1));
      rows = Math.max(rowsAtATime.least, Math.min(fitting, rows * 2, rowsAtATime.most));
      tried = [];
    },
  };
}
