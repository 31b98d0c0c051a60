import type { Eventually } from "../../core/eventually.ts";

/** The interval between checks for rows that another program has written, in milliseconds. */
const idleMs = 5000;
/** The delay between a write and the indexing of its words, in milliseconds. */
const busyMs = 100;

/** Background work that indexes the words of new rows. */
export interface Indexing {
  /** Reports a write. */
  written(): void;
  stop(): void;
}

/**
 * Indexes the new rows, one portion at a time. `take` indexes a portion and returns false if no row was waiting. While
 * clients write, pauses after each portion. Otherwise continues immediately. `choosePause` receives the duration of the
 * portion and returns the pause, both in milliseconds.
 */
export function indexInBackground(take: () => Eventually<boolean>, choosePause: (tookMs: number) => number): Indexing {
  let timer: NodeJS.Timeout | null = null;
  let wasWritten = false;
  let isIdle = false;
  let isStopped = false;
  wait(0);

  function wait(ms: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = isStopped ? null : setTimeout(() => void work(), ms).unref();
  }

  async function work(): Promise<void> {
    const isBusy = wasWritten;
    const start = performance.now();
    wasWritten = isIdle = false;
    let hasTaken = false;
    try {
      hasTaken = await take();
    } catch {
      // The error is not reported here, because requests get the same errors from the store. This work only tries
      // again.
    }
    const took = performance.now() - start;
    isIdle = !hasTaken && !wasWritten;
    wait(isIdle ? idleMs : !hasTaken ? busyMs : isBusy ? choosePause(took) : 0);
  }

  return {
    written() {
      wasWritten = true;
      if (!isIdle) return;
      isIdle = false;
      wait(busyMs);
    },
    stop() {
      isStopped = true;
      wait(0);
    },
  };
}
