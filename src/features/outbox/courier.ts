import { randomUUID } from "node:crypto";
import type { MetricFamily } from "../../core/measurement.ts";
import { makeFailureReporter } from "../../feature/observers.ts";
import type { Store } from "../../store/store.ts";
import { createDeliveries, type CourierLeases } from "./deliveries.ts";
import { outcomes, type DeliveryOptions } from "./delivery.ts";
import { leases as leaseRows } from "./events.ts";
import { createLeases, OLDER } from "./lease.ts";

/** The delay after a write before the courier looks for its event. By then the write is usually committed. */
const SOON_MS = 20;

/**
 * Delivers events in rounds. A round starts due deliveries until none is left. Each receiver has one process that
 * delivers to it.
 */
export interface Courier {
  /** Delivers due events. Resolves when nothing more is due now. */
  run(): Promise<void>;
  /**
   * Starts a round. If a round is already running, makes it look for due events again without waiting for slow
   * deliveries.
   */
  look(): void;
  /** Calls `look` in a moment, after a write. */
  soon(): void;
  stop(): Promise<void>;
  measure(): readonly MetricFamily[];
}

export function createCourier(options: DeliveryOptions): Courier {
  const { store, observe, now } = options;
  const leases = { own: createLeases(store, randomUUID()), shared: createLeases(store, OLDER.holder) };
  const stopped = new AbortController();
  let woken = Promise.withResolvers<void>();
  let round = Promise.resolve();
  let rounds = 0;
  let isAwaited = false;
  const message = "Events could not be delivered. They are tried again.";
  const failures = makeFailureReporter((error) => observe({ kind: "notice", level: "error", message, error }));
  const deliveries = createDeliveries({
    ...options,
    leases,
    stopped: stopped.signal,
    onYield: () => woken.resolve(),
  });

  async function runRound(): Promise<void> {
    while (!stopped.signal.aborted) {
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
    run().then(failures.well, (error: unknown) => {
      if (!stopped.signal.aborted) failures.failed(error);
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
      await deliveries.settle();
      await release(store, leases, now()).catch(() => undefined);
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

/**
 * Releases the leases of a process. The last process of this version also releases the shared lease, so that a process
 * of an older version can take it at once.
 */
async function release(store: Store, { own, shared }: CourierLeases, now: number): Promise<void> {
  await own.release();
  const isOther = { not: { column: "id", operator: "eq", value: OLDER.key } } as const;
  const isLive = { column: "until", operator: "gt", value: now } as const;
  if ((await store.count(leaseRows, { all: [isOther, isLive] })) === 0) await shared.release();
}
