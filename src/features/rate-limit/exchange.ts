import type { Observer } from "../../core/observation.ts";
import type { Store } from "../../store/store.ts";
import type { RequestCounter } from "./counter.ts";

/** How many subjects are told at once, so that no write waits long behind it. */
const TOGETHER = 500;
/** How often it is said that nothing can be told. */
const SILENCE_MS = 60_000;

/** Tells the other processes what came here, and hears from the same rows what came there. */
export interface Exchange {
  /** One portion, where there is any; resolves when it was told. Rejects never. */
  tell(): Promise<void>;
  /** All that is left. */
  tellAll(): Promise<void>;
}

interface ExchangeOptions {
  readonly store: Store;
  readonly counters: readonly RequestCounter[];
  readonly observe: Observer;
  readonly now: () => number;
}

/** One portion at a time: what comes meanwhile is in the next. */
export function exchangeOf({ store, counters, observe, now }: ExchangeOptions): Exchange {
  let running: Promise<boolean> | null = null;
  let toldAt = -Infinity;

  async function portion(): Promise<boolean> {
    // By key, so that two processes that tell of the same rows never wait for each other in a circle.
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
      if (now() - toldAt > SILENCE_MS) {
        toldAt = now();
        const message =
          "The counts of requests could not be told to the other processes; each counts on its own meanwhile.";
        observe({ kind: "notice", level: "error", message, error });
      }
      return false;
    }
  }

  const run = (): Promise<boolean> => (running ??= portion().finally(() => void (running = null)));
  return {
    async tell() {
      await run();
    },
    async tellAll() {
      await running;
      while (await run());
    },
  };
}
