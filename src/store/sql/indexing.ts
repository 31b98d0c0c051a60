import type { Eventually } from "../../core/eventually.ts";

/** Until it is looked again whether another program has left something to take in, in milliseconds. */
const idleMs = 5000;
/** From a write until what it left is looked for, in milliseconds. */
const busyMs = 100;

/** Work that goes on beside the writes. */
export interface Indexing {
  /** Somebody has written. */
  written(): void;
  stop(): void;
}

/**
 * Takes in what waits for an index, a portion at a time: one after another while nobody writes. Beside writes there is a pause behind
 * each; `pauseOf` is told how long it took, all in milliseconds.
 */
export function indexBeside(take: () => Eventually<boolean>, pauseOf: (tookMs: number) => number): Indexing {
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
      // Whoever reads or writes is told what is wrong with the store; here it is tried again.
    }
    const took = performance.now() - start;
    isIdle = !hasTaken && !wasWritten;
    wait(isIdle ? idleMs : !hasTaken ? busyMs : isBusy ? pauseOf(took) : 0);
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
