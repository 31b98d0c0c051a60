/** How long the rows of a write that erases may take, in milliseconds: whoever writes waits behind it. */
const AIM_MS = 5;

/** How many rows it erases: few at first, then as many as that time allows. Rows of many indexes, and keys in no order, cost a hundred times what others do. */
const rowsAtATime = { least: 10, most: 500 } as const;

/** Of so many portions of one size the fastest counts: the others waited for somebody. */
const tries = 3;

/** How many rows the next portion has; it is told how long each took, in milliseconds. */
export interface PortionSize {
  rows(): number;
  took(ms: number): void;
}

/** Whoever erases has half of the time while a write takes no longer than this, in milliseconds. */
const EASY_MS = 20;

/** The longest pause, in milliseconds: however slow the disk is, what has run out ends some day. */
export const LONGEST_PAUSE_MS = 2000;

/** At least half of the time is for those who write; and the longer a write takes, because of them or of the disk, the larger their share. */
export function pauseMs(tookMs: number): number {
  return Math.min(tookMs * Math.max(1, tookMs / EASY_MS), Math.max(LONGEST_PAUSE_MS, tookMs));
}

/** How many rows a portion has, by what those before it took. */
export function portionSize(): PortionSize {
  let rows: number = rowsAtATime.least;
  let leastMs = Infinity;
  let tried: number[] = [];
  return {
    rows: () => rows,
    took(ms) {
      // What every write takes is the disk's sync, or the way to the database: fewer rows would not make it shorter.
      leastMs = Math.min(leastMs, ms);
      tried.push(ms);
      if (tried.length < tries) return;
      // The disk may have been quicker before: the fewest rows take hardly more than any write takes now.
      if (rows === rowsAtATime.least) leastMs = Math.min(...tried);
      const fitting = Math.round((rows * AIM_MS) / Math.max(Math.min(...tried) - leastMs, 1));
      rows = Math.max(rowsAtATime.least, Math.min(fitting, rows * 2, rowsAtATime.most));
      tried = [];
    },
  };
}
