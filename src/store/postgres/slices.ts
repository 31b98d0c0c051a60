import type { Eventually } from "../../core/eventually.ts";

/** The longest slice, in milliseconds. */
const SLICE_MS = 5;

/**
 * Does work that pauses after each of many small steps. Lets the event loop continue after some milliseconds. Finishes
 * short work at once.
 */
export function inSlices<T>(work: Generator<undefined, T, undefined>): Eventually<T> {
  const started = performance.now();
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (steps % STEPS === 0 && performance.now() - started >= SLICE_MS) return later(() => inSlices(work));
  }
}

/** The number of steps between two checks of the clock. */
const STEPS = 16;

/** The last slice in the queue. Each round of the event loop runs one, so that no task waits for several. */
let line = Promise.resolve();

function later<T>(work: () => Eventually<T>): Promise<T> {
  line = line.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return line.then(work);
}
