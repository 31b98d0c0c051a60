import type { Observer } from "../observation.ts";
import type { Store } from "../store/store.ts";

const MEASURE_MS = 10_000;

/** A difference that somebody has to see to: beyond it a clock is wrong, and not only a little off. */
const WRONG_MS = 60_000;

/** What is within this of the difference as known comes from the network and the server's own clock. */
const NOISE_MS = 20;

/** The time of a service. */
export interface Clock {
  /** Milliseconds since the epoch, as the database has it; never earlier than it was told before. */
  now(): number;
  /** How far the machine's clock is ahead of the database's, in milliseconds; 0 where they are one. */
  aheadMs(): number;
  /** Measures the difference for the first time, and from now on. Returns what stops that. */
  start(): Promise<() => void>;
}

/** A time that is given is taken as it is. Else it is the machine's, corrected by the store's where that has a clock of its own. */
export function clockOf(
  { now, store }: { readonly now?: () => number; readonly store: Store },
  observe: Observer,
): Clock {
  const asItIs: Clock = { now: now ?? Date.now, aheadMs: () => 0, start: async () => () => undefined };
  if (now !== undefined || store.now === undefined) return asItIs;
  const clock = correctedClock({ now: store.now }, observe);
  return {
    ...clock,
    async start() {
      try {
        return await clock.start();
      } catch (error) {
        await store.close();
        throw error;
      }
    },
  };
}

/**
 * The machine's clock, corrected by that of the database: of processes on several machines each has the same time, and what one has
 * written is neither over nor yet to come for another.
 */
export function correctedClock(
  store: Required<Pick<Store, "now">>,
  observe: Observer,
  machine: () => number = Date.now,
): Clock {
  let aheadMs = 0;
  let latest = -Infinity;
  let isWrong = false;

  async function measure(): Promise<void> {
    const before = machine();
    const database = await store.now();
    const after = machine();
    // The database has looked at its clock somewhere between the two.
    const measured = (before + after) / 2 - database;
    if (Math.abs(measured - aheadMs) <= (after - before) / 2 + NOISE_MS) return;
    aheadMs = measured;
    tell();
  }

  function tell(): void {
    if (isWrong === isWrongBy(aheadMs)) return;
    isWrong = !isWrong;
    if (isWrong) observe({ kind: "notice", level: "error", message: differenceText(aheadMs)! });
    else
      observe({
        kind: "notice",
        level: "info",
        message: "The clock of this machine agrees with the database's again.",
      });
  }

  return {
    now() {
      const time = Math.round(machine() - aheadMs);
      // Where the difference has grown, or the machine was set back, it stands still until that is made up for.
      return time <= latest ? latest : (latest = time);
    },
    aheadMs: () => aheadMs,
    async start() {
      await measure();
      latest = -Infinity;
      // A database that does not answer is told of elsewhere; the difference stays as it was.
      const timer = setInterval(() => void measure().catch(() => undefined), MEASURE_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

/** What is told of a clock that is wrong; null where it is not. */
export function differenceText(aheadMs: number): string | null {
  if (!isWrongBy(aheadMs)) return null;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `The clock of this machine is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the database's, which is used in its place. Set the clock (NTP).`;
}

function isWrongBy(aheadMs: number): boolean {
  return Math.abs(aheadMs) > WRONG_MS;
}
