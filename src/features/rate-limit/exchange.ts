import type { Observer } from "../../core/observation.ts";
import type { Store } from "../../store/store.ts";
import type { RequestCounter } from "./counter.ts";

/** The largest number of subjects in one write, so that other writes do not wait long. */
const TOGETHER = 500;
/** The shortest time between two log messages about a failed exchange, in milliseconds. */
const SILENCE_MS = 60_000;

/**
 * Writes the counts of this process for the other processes, and reads the totals of all processes from the same rows.
 */
export interface Exchange {
  /** Writes one portion of the waiting counts. Resolves when the write has succeeded or failed. Never rejects. */
  writePortion(): Promise<void>;
  /** Writes all remaining counts. */
  writeAll(): Promise<void>;
}

interface ExchangeOptions {
  readonly store: Store;
  readonly counters: readonly RequestCounter[];
  readonly observe: Observer;
  readonly now: () => number;
}

/**
 * Creates the exchange. It writes one portion at a time. Counts that arrive in the meantime are in the next portion.
 */
export function createExchange({ store, counters, observe, now }: ExchangeOptions): Exchange {
  let running: Promise<boolean> | null = null;
  let reportedAt = -Infinity;

  async function portion(): Promise<boolean> {
    // Sorted by key: two processes write the same rows in the same order, so they never deadlock.
    const due = counters
      .flatMap((counter) => counter.due(Math.ceil(TOGETHER / counters.length)))
      .toSorted((one, other) => (one.key < other.key ? -1 : 1));
    if (due.length === 0) return false;
    try {
      const outcome = await store.write({ changes: due.map(({ change }) => change) });
      if (outcome.kind !== "written") throw new Error(`The store answered ${outcome.kind} to counts of requests.`);
      for (const [at, each] of due.entries()) each.done(outcome.rows[at] ?? null);
      return true;
    } catch (error) {
      for (const each of due) each.failed();
      if (now() - reportedAt > SILENCE_MS) {
        reportedAt = now();
        const message =
          "The counts of requests could not be shared with the other processes. Until an exchange succeeds, each process counts alone.";
        observe({ kind: "notice", level: "error", message, error });
      }
      return false;
    }
  }

  const run = (): Promise<boolean> => (running ??= portion().finally(() => void (running = null)));
  return {
    async writePortion() {
      await run();
    },
    async writeAll() {
      await running;
      while (await run());
    },
  };
}
