import { randomUUID } from "node:crypto";
import type { MetricFamily } from "../../core/measurement.ts";
import { makeFailureReporter } from "../../feature/observers.ts";
import type { Row } from "../../store/store.ts";
import { deliver, outcomes, MAX_RUNNING, type Delivered, type DeliveryOptions } from "./delivery.ts";
import { awaitedSubscribers, dueEvents } from "./due.ts";
import { createLease } from "./lease.ts";

/** The delay after a write before the courier looks for its event. By then the write is usually committed. */
const SOON_MS = 20;

/** Delivers events in rounds. A round starts due deliveries until none is left. Only the process with the lease delivers. */
export interface Courier {
  /** Delivers due events. Resolves when nothing more is due now. */
  run(): Promise<void>;
  /** Starts a round. If a round is already running, makes it look for due events again without waiting for slow deliveries. */
  look(): void;
  /** Calls `look` in a moment, after a write. */
  soon(): void;
  stop(): Promise<void>;
  measure(): readonly MetricFamily[];
}

/** An event that is being delivered. */
interface Delivery {
  readonly to: string;
  readonly done: Promise<void>;
}

export function createCourier(options: DeliveryOptions): Courier {
  const { store, observe, now, timeoutSeconds } = options;
  const lease = createLease(store, randomUUID());
  const stopped = new AbortController();
  const deliveries = trackDeliveries(options, stopped.signal);
  let woken = Promise.withResolvers<void>();
  let round = Promise.resolve();
  let rounds = 0;
  let isAwaited = false;
  const message = "Events could not be delivered. They are tried again.";
  const telling = makeFailureReporter((error) => observe({ kind: "notice", level: "error", message, error }));

  async function runRound(): Promise<void> {
    // The lease is longer than the longest try, so that no other process delivers while a try is running.
    while (!stopped.signal.aborted && (await lease.hold(now(), timeoutSeconds * 2))) {
      woken = Promise.withResolvers();
      const isMoreDue = await deliveries.beginDue();
      const all = deliveries.underWay();
      if (all.length === 0) return;
      const isDone = await Promise.race([
        isMoreDue ? Promise.race(all).then(() => false) : Promise.all(all).then(() => true),
        woken.promise.then(() => false),
      ]);
      if (isDone) return;
    }
  }

  // Always adds a round, because the running round may have read the due events before the newest event was written.
  const run = (): Promise<void> => {
    rounds++;
    round = round
      .catch(() => undefined)
      .then(runRound)
      .finally(() => rounds--);
    return round;
  };
  const look = (): void => {
    if (stopped.signal.aborted) return;
    if (rounds > 0) return woken.resolve();
    run().then(telling.well, (error: unknown) => {
      if (!stopped.signal.aborted) telling.failed(error);
    });
  };

  return {
    run,
    look,
    soon() {
      if (isAwaited) return;
      isAwaited = true;
      setTimeout(() => {
        isAwaited = false;
        look();
      }, SOON_MS).unref();
    },
    async stop() {
      stopped.abort();
      await round.catch(() => undefined);
      await lease.release().catch(() => undefined);
    },
    measure: () => [
      {
        name: "latchkey_outbox_deliveries_total",
        help: "Tries to deliver an event; failed: the last try failed.",
        type: "counter",
        samples: outcomes.map((outcome) => [
          `latchkey_outbox_deliveries_total{outcome="${outcome}"}`,
          deliveries.count(outcome),
        ]),
      },
    ],
  };
}

/** Keeps track of the running deliveries, with a limit for each subscriber. */
function trackDeliveries(
  options: DeliveryOptions,
  stopped: AbortSignal,
): {
  /** Starts the due deliveries. Returns true if more may be due. */
  beginDue(): Promise<boolean>;
  underWay(): readonly Promise<void>[];
  /** Returns how many tries since the start had this outcome. */
  count(outcome: Delivered): number;
} {
  const { store, now } = options;
  /** The running deliveries, by the id of the event. */
  const underWay = new Map<number, Delivery>();
  const counted: Record<Delivered, number> = { delivered: 0, postponed: 0, failed: 0 };

  function underWayTo(name: string): readonly number[] {
    return [...underWay].flatMap(([id, { to }]) => (to === name ? [id] : []));
  }

  function begin(row: Row): void {
    const id = row.record["id"] as number;
    const done = deliver(row, options, stopped)
      .then((outcome) => {
        if (outcome !== null) counted[outcome]++;
      })
      .finally(() => underWay.delete(id));
    // The round that waits for the delivery gets the error. If no round waits any more, the event is delivered again later.
    done.catch(() => undefined);
    underWay.set(id, { to: row.record["subscriber"] as string, done });
  }

  return {
    async beginDue() {
      let isMoreDue = false;
      for (const to of await awaitedSubscribers(store)) {
        // Each subscriber has its own limit of running deliveries, so that a subscriber that hangs does not delay others.
        const but = underWayTo(to);
        const most = MAX_RUNNING - but.length;
        const due = most === 0 ? [] : await dueEvents(store, { to, but, most, now: now() });
        for (const row of due) begin(row);
        if (due.length === most) isMoreDue = true;
      }
      return isMoreDue;
    },
    underWay: () => [...underWay.values()].map(({ done }) => done),
    count: (outcome) => counted[outcome],
  };
}
