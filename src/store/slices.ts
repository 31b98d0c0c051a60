import type { Eventually } from "../core/eventually.ts";

/** The longest slice, in milliseconds. A slice is the part of long work that runs in one turn of the event loop. */
const SLICE_MS = 5;

/**
 * Runs work that pauses after each of many small steps. After some milliseconds, lets the event loop run other tasks
 * first. Short work finishes at once.
 */
export function inSlices<T>(work: Generator<undefined, T, undefined>): Eventually<T> {
  const started = performance.now();
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (steps % STEPS === 0 && performance.now() - started >= SLICE_MS) return queueSlice(() => inSlices(work));
  }
}

/** The number of steps between two checks of the clock. */
const STEPS = 16;

/**
 * Resolves when the last slice in the queue may start. Each turn of the event loop runs one slice, so no task waits for
 * several slices.
 */
let endOfQueue = Promise.resolve();

function queueSlice<T>(work: () => Eventually<T>): Promise<T> {
  endOfQueue = endOfQueue.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return endOfQueue.then(work);
}
