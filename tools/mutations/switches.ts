// Loaded with `--import` into the process that tries the changes, into its threads, and into the processes that it
// starts. Defines the function `__isOn` that the changed sources call.
import { getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";

const MOST_CHANGES = 10_000;
const KEY = "mutations";

if (isMainThread) setEnvironmentData(KEY, new SharedArrayBuffer(4 * MOST_CHANGES));
/** The number of the change that is on, and for each change 1 if its code was run. All threads share them. */
const shared = new Int32Array(getEnvironmentData(KEY) as unknown as SharedArrayBuffer);
if (isMainThread) shared[0] = Number(process.env["MUTATION"] ?? 0);

Object.assign(globalThis, {
  __isOn(id: number): boolean {
    shared[id] = 1;
    return shared[0] === id;
  },
});

/** Switches one change on, or none (0). */
export function switchOn(id: number): void {
  shared[0] = id;
  process.env["MUTATION"] = String(id);
}

/** Returns the changes whose code was run since the last call. */
export function takeReached(): readonly number[] {
  const found = [...shared.keys()].filter((id) => id > 0 && shared[id] === 1);
  shared.fill(0, 1);
  return found;
}
