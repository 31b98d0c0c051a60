import { setTimeout as wait } from "node:timers/promises";
import type { Observer } from "../../../core/observation.ts";
import { makeFailureReporter } from "../../../feature/observers.ts";

/**
 * The pause before work is repeated, in milliseconds. It doubles, up to the longest pause, each time there was nothing
 * to do. So it finds what an older version writes before this process has run about twice as long.
 */
const FIRST_PAUSE_MS = 5000;

/** The shortest pause, as a multiple of the duration of the last pass. */
const LEAST_PAUSE = 20;

/** Work that a service repeats in the background as long as it runs. */
export interface Repeating {
  /** Does the work once. Returns the number of changes. */
  run(): Promise<number>;
  /** Starts to do the work again and again. */
  open(): void;
  /** Stops after the portion that is running. */
  close(): Promise<void>;
}

/** The work, and what is logged if it fails. */
export interface RepeatingOptions {
  /** Does the work once. Returns the number of changes. Stops after a portion if `signal` is aborted. */
  run(signal: AbortSignal): Promise<number>;
  readonly longestPauseMs: number;
  readonly failure: string;
  readonly observe: Observer;
}

/** Makes background work for one service. */
export function makeRepeating({ run, longestPauseMs, failure: message, observe }: RepeatingOptions): Repeating {
  const stopped = new AbortController();
  const { signal } = stopped;
  const failures = makeFailureReporter((error) => observe({ kind: "notice", level: "error", message, error }));
  let ended = Promise.resolve();

  async function repeat(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const start = performance.now();
      try {
        pauseMs = (await run(signal)) > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, longestPauseMs);
        failures.well();
      } catch (error) {
        pauseMs = FIRST_PAUSE_MS;
        if (!signal.aborted) failures.failed(error);
      }
      const tookMs = performance.now() - start;
      await wait(Math.max(pauseMs, tookMs * LEAST_PAUSE), undefined, { ref: false, signal });
    }
  }

  return {
    run: () => run(signal),
    open() {
      // Only the pause can throw, when `close` ends it.
      ended = repeat().catch(() => undefined);
    },
    async close() {
      stopped.abort();
      await ended;
    },
  };
}
