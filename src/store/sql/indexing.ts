import type { Eventually } from "../../eventually.ts";

/** Until it is looked again whether another program has left something to take in, in milliseconds. */
const idleMs = 5000;
/** Between two portions while others write, in milliseconds: a portion takes some five. */
const busyMs = 100;

/** Work that goes on beside the writes. */
export interface Indexing {
  /** Somebody has written. */
  written(): void;
  stop(): void;
}

/** Takes in what waits for an index, a portion at a time: one after another while nobody writes, and now and then beside writes. */
export function indexBeside(take: () => Eventually<boolean>): Indexing {
  let timer: NodeJS.Timeout | null = null;
  let wasWritten = false;
  let isStopped = false;
  wait(0);

  function wait(ms: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = isStopped ? null : setTimeout(() => void work(), ms).unref();
  }

  async function work(): Promise<void> {
    const isBusy = wasWritten;
    wasWritten = false;
    let hasTaken = false;
    try {
      hasTaken = await take();
    } catch {
      // Whoever reads or writes is told what is wrong with the store; here it is tried again.
    }
    wait(!hasTaken ? idleMs : isBusy ? busyMs : 0);
  }

  return {
    written() {
      if (!wasWritten) wait(busyMs);
      wasWritten = true;
    },
    stop() {
      isStopped = true;
      wait(0);
    },
  };
}
