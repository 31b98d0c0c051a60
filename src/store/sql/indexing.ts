import type { Eventually } from "../../core/eventually.ts";

/** The interval between checks for work from another program, in milliseconds. */
const idleMs = 5000;
/** The delay between a write and the check for its work, in milliseconds. */
const busyMs = 100;

/** Background work next to the writes. */
export interface Indexing {
  /** Reports a write. */
  written(): void;
  stop(): void;
}

/**
 * Indexes the waiting rows, one portion at a time. Runs without a pause if there are no writes. Otherwise it pauses
 * after each portion. `choosePause` receives the duration of the portion and returns the pause, both in milliseconds.
 */
export function indexBeside(take: () => Eventually<boolean>, choosePause: (tookMs: number) => number): Indexing {
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
      // Readers and writers get the store's errors themselves. This work just tries again.
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
