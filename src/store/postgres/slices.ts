import type { Eventually } from "../../core/eventually.ts";

/** The longest slice, in milliseconds. */
const SLICE_MS = 5;

/** Does work that stops after each of many small steps. Lets the event loop go on after some milliseconds. Short work is done at once. */
export function inSlices<T>(work: Generator<undefined, T, undefined>): Eventually<T> {
  const started = performance.now();
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (steps % STEPS === 0 && performance.now() - started >= SLICE_MS) return later(() => inSlices(work));
  }
}

/** The number of steps between two looks at the clock. */
const STEPS = 16;

/** The last slice that waits. Each round of the event loop does one, so that nothing waits for several. */
let line = Promise.resolve();

function later<T>(work: () => Eventually<T>): Promise<T> {
  line = line.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return line.then(work);
}
