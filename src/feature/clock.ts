import type { Observer } from "../core/observation.ts";
import type { Store } from "../store/store.ts";

/** So long processes may have two times when the database has another clock, as after a fail-over. */
const MEASURE_MS = 1000;

/** A difference that somebody has to see to: beyond it a clock is wrong, and not only a little off. */
const WRONG_MS = 60_000;

/** A clock that has moved so far beside the steady one was set. */
const STEP_MS = 1000;

/** What is within this of the difference as known comes from the network and the server's own clock. */
const NOISE_MS = 20;

/** The time of a service. */
export interface Clock {
  /** Milliseconds since the epoch, as the database has it; earlier than it was told before only where the database's was set back by more than a minute. */
  now(): number;
  /** How far the machine's clock is ahead of the database's, in milliseconds; 0 where they are one. */
  aheadMs(): number;
  /** Measures the difference for the first time, and from now on. Returns what stops that. */
  start(): Promise<() => void>;
}

/** A time that is given is taken as it is. Else it is the store's where that has a clock of its own, and the machine's where it has none. */
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

/** The clocks of a machine, in milliseconds. */
export interface MachineClocks {
  /** Since the epoch. Whoever sets it moves it at once, in either direction. */
  wall(): number;
  /** Since whenever: it goes on steadily, but for a machine that sleeps. */
  steady(): number;
}

const ofThisMachine: MachineClocks = { wall: () => Date.now(), steady: () => performance.now() };

/**
 * The database's clock, carried on by the steady one of the machine: of processes on several machines each has the same time, and what one has
 * written is neither over nor yet to come for another, also where somebody sets the machine's clock meanwhile.
 */
export function correctedClock(
  store: Required<Pick<Store, "now">>,
  observe: Observer,
  { wall, steady }: MachineClocks = ofThisMachine,
): Clock {
  /** How far the two clocks of the machine were apart when they were looked at last. */
  let apartMs = wall() - steady();
  /** What makes the database's time of the steady one. */
  let sinceMs = apartMs;
  let aheadMs = 0;
  let latest = -Infinity;
  let isWrong = false;
  let isMeasuring = false;

  async function measure(): Promise<void> {
    apartMs = wall() - steady();
    const before = steady();
    const database = await store.now();
    const after = steady();
    // The database has looked at its clock somewhere between the two.
    const measured = database - (before + after) / 2;
    const noise = (after - before) / 2 + NOISE_MS;
    if (Math.abs(measured - sinceMs) > noise) sinceMs = measured;
    const ahead = apartMs - measured;
    if (Math.abs(ahead - aheadMs) > noise) aheadMs = ahead;
    tell();
  }

  /** A database that does not answer is told of elsewhere; the time goes on as it did. */
  async function measureAgain(): Promise<void> {
    if (isMeasuring) return;
    isMeasuring = true;
    await measure().catch(() => undefined);
    isMeasuring = false;
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
      // Somebody has set the clock, or the machine has slept.
      if (Math.abs(wall() - steady() - apartMs) > STEP_MS) void measureAgain();
      const time = Math.round(steady() + sinceMs);
      if (time > latest || latest - time > WRONG_MS) latest = time;
      // Where the database's was set back a little, it stands still until that is made up for. Longer would be no time at all: no limit would end.
      return latest;
    },
    aheadMs: () => aheadMs,
    async start() {
      await measure();
      latest = -Infinity;
      const timer = setInterval(() => void measureAgain(), MEASURE_MS);
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
