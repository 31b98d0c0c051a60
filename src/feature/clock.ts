import type { Observer } from "../core/observation.ts";
import type { Store } from "../store/store.ts";

/**
 * The interval between measurements, in milliseconds. After a fail-over changes the database's clock, processes may
 * have different times for this long.
 */
const MEASURE_MS = 1000;

/** A larger difference between the machine's clock and the database's is an error that the operator must correct. */
const WRONG_MS = 60_000;

/** If the wall clock has moved by more than this relative to the steady clock, it was set, or the machine has slept. */
const STEP_MS = 1000;

/**
 * A smaller change of the measured difference is ignored, because the network and the steps of the database's clock can
 * cause it.
 */
const NOISE_MS = 20;

/** The time of a service. */
export interface Clock {
  /**
   * Returns milliseconds since the epoch, by the database's clock. The returned time goes back only if the database's
   * clock was set back by more than a minute.
   */
  now(): number;
  /** Returns how far the machine's clock is ahead of the database's, in milliseconds. 0 if they are the same clock. */
  aheadMs(): number;
  /**
   * Measures the difference for the first time, and regularly from now on. Returns a function that stops the
   * measurements.
   */
  start(): Promise<() => void>;
}

/**
 * Returns the clock: `now` if it is given, otherwise the store's clock if it has one, otherwise the machine's clock.
 */
export function chooseClock(
  { now, store }: { readonly now?: () => number; readonly store: Store },
  observe: Observer,
): Clock {
  const uncorrected: Clock = { now: now ?? Date.now, aheadMs: () => 0, start: async () => () => undefined };
  if (now !== undefined || store.now === undefined) return uncorrected;
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
  /** Returns the time since the epoch. An operator can set it forward or back. */
  wall(): number;
  /** Returns a time that increases steadily and may stop while the machine sleeps. Its start is arbitrary. */
  steady(): number;
}

const ofThisMachine: MachineClocks = { wall: () => Date.now(), steady: () => performance.now() };

/**
 * Returns the database's clock. The machine's steady clock continues it between measurements. All processes have the
 * same time. Data from one process is neither expired nor in the future for another, even if a machine's clock is set
 * in the meantime.
 */
export function correctedClock(
  store: Required<Pick<Store, "now">>,
  observe: Observer,
  { wall, steady }: MachineClocks = ofThisMachine,
): Clock {
  /** The difference between the two clocks of the machine at the last check. */
  let wallMinusSteadyMs = wall() - steady();
  /** The database's time minus the steady time. */
  let databaseMinusSteadyMs = wallMinusSteadyMs;
  let aheadMs = 0;
  let latest = -Infinity;
  let isWrong = false;
  let isMeasuring = false;

  async function measure(): Promise<void> {
    wallMinusSteadyMs = wall() - steady();
    const before = steady();
    const database = await store.now();
    const after = steady();
    // The database has read its clock at some moment between `before` and `after`.
    const measured = database - (before + after) / 2;
    const noise = (after - before) / 2 + NOISE_MS;
    if (Math.abs(measured - databaseMinusSteadyMs) > noise) databaseMinusSteadyMs = measured;
    const ahead = wallMinusSteadyMs - measured;
    if (Math.abs(ahead - aheadMs) > noise) aheadMs = ahead;
    reportDifference();
  }

  /** Ignores a database that does not answer, because another part reports it. The clock keeps the last difference. */
  async function measureAgain(): Promise<void> {
    if (isMeasuring) return;
    isMeasuring = true;
    await measure().catch(() => undefined);
    isMeasuring = false;
  }

  function reportDifference(): void {
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
      // The wall clock was set, or the machine has slept.
      if (Math.abs(wall() - steady() - wallMinusSteadyMs) > STEP_MS) void measureAgain();
      const time = Math.round(steady() + databaseMinusSteadyMs);
      if (time > latest || latest - time > WRONG_MS) latest = time;
      // If the database's clock was set back by up to `WRONG_MS`, the time stops until that clock has caught up. After
      // a larger step, the time goes back too. Otherwise it would stop for long, and nothing would expire.
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

/** Returns the message about a wrong clock of the machine. Returns null if the difference is small. */
export function differenceText(aheadMs: number): string | null {
  if (!isWrongBy(aheadMs)) return null;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return `The clock of this machine is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the clock of the database. The service uses the database's time. Set the clock of this machine (NTP).`;
}

function isWrongBy(aheadMs: number): boolean {
  return Math.abs(aheadMs) > WRONG_MS;
}
