import { problem } from "../../core/problem/problem.ts";

/** Limits the long reads of each caller. A long read may look at all rows of a table. */
export interface LongReads {
  /**
   * Calls `read` when fewer reads of this caller run than the limit. Throws the problem `unavailable` if too many reads
   * of the same caller wait.
   */
  run<T>(caller: string, read: () => Promise<T> | T): Promise<T>;
}

interface Caller {
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Creates the limits: two running reads per caller, and eight that wait. A caller with more reads delays only itself.
 */
export function makeLongReads(mostRunning = 2, mostWaiting = 8): LongReads {
  const callers = new Map<string, Caller>();

  function resolveCaller(name: string): Caller {
    let caller = callers.get(name);
    if (caller === undefined) callers.set(name, (caller = { running: 0, waiting: [] }));
    return caller;
  }

  return {
    async run(name, read) {
      const caller = resolveCaller(name);
      if (caller.running < mostRunning) caller.running++;
      else if (caller.waiting.length >= mostWaiting) throw tooMany();
      // A waiting read replaces the read that ends, so the number of running reads stays the same.
      else await new Promise<void>((resolve) => caller.waiting.push(resolve));
      try {
        return await read();
      } finally {
        const next = caller.waiting.shift();
        if (next !== undefined) next();
        else if (--caller.running === 0) callers.delete(name);
      }
    },
  };
}

function tooMany(): Error {
  return problem("unavailable", {
    detail: "Too many of your long lists are being read. Try again when they are finished.",
    headers: [["Retry-After", "2"]],
  });
}
