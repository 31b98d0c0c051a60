import { lineOfThrown } from "../../core/checking/thrown.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Observer } from "../../core/observation.ts";
import type { Cause, Row, Store, WrittenValues } from "../../store/store.ts";
import type { Delivery, RecordEvent, Subscriber, Worker } from "./contract.ts";
import { LAST_RETRY_MS } from "./due.ts";
import { mountedEvents } from "./events.ts";
import { readJob } from "./jobs.ts";

export interface DeliveryOptions {
  readonly store: Store;
  readonly subscribers: readonly Subscriber[];
  readonly workers: readonly Worker[];
  readonly observe: Observer;
  readonly now: () => number;
  /** Returns a number from 0 up to 1, so that deliveries that failed together are not retried together. */
  readonly random: () => number;
  readonly attempts: number;
  readonly timeoutSeconds: number;
}

const { collection } = mountedEvents;

/** The largest number of concurrent deliveries to one subscriber. */
export const MAX_RUNNING = 16;
const FIRST_RETRY_MS = 1000;

/** The outcome of a try. `failed` is final. */
export const outcomes = ["delivered", "postponed", "failed"] as const;
export type Delivered = (typeof outcomes)[number];

/**
 * Delivers one event, or does one job, and stores the outcome. Returns null if the process stops first. Throws if the outcome cannot be
 * stored. In both cases the event is delivered again.
 */
export async function deliver(row: Row, options: DeliveryOptions, stopped: AbortSignal): Promise<Delivered | null> {
  const { store, timeoutSeconds } = options;
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutSeconds * 1000)]);
  try {
    const receive = requireReceiver(row, options);
    await inTime(async () => receive({ store, signal }), signal);
  } catch (error) {
    // If the shutdown of the process interrupted the delivery, the subscriber did not fail.
    return stopped.aborted ? null : postpone(row, error, options);
  }
  await store.write({
    changes: [{ kind: "deleteAll", collection, where: { column: "id", operator: "eq", value: row.record["id"]! } }],
  });
  return "delivered";
}

/**
 * Returns the function that receives the event or the job of a row. Throws if its subscriber or worker no longer exists. The row then stays
 * until a program with this subscriber or worker delivers it, or until an administrator deletes it.
 */
function requireReceiver(
  row: Row,
  { subscribers, workers }: DeliveryOptions,
): (delivery: Delivery) => Eventually<void> {
  const { subscriber: name, kind } = row.record;
  if (kind === "job") {
    const worker = workers.find((each) => each.name === name);
    if (worker === undefined) throw new Error("There is no worker with this name.");
    return (delivery) => worker.run(readJob(row), delivery);
  }
  const subscriber = subscribers.find((each) => each.name === name);
  if (subscriber === undefined) throw new Error("There is no subscriber with this name.");
  return (delivery) => subscriber.deliver(readEvent(row), delivery);
}

/** Runs a task. Throws when the signal is aborted, even if the task ignores the signal. */
async function inTime(task: () => Promise<void>, signal: AbortSignal): Promise<void> {
  let forget = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    const end = (): void => reject(new Error("It took too long.", { cause: signal.reason }));
    signal.addEventListener("abort", end, { once: true });
    forget = () => signal.removeEventListener("abort", end);
  });
  try {
    await Promise.race([task(), over]);
  } finally {
    forget();
  }
}

async function postpone({ record, revision }: Row, error: unknown, options: DeliveryOptions): Promise<Delivered> {
  const { store, observe, now, random, attempts } = options;
  const [id, attempt] = [record["id"] as number, (record["attempts"] as number) + 1];
  const failed = attempt >= attempts;
  const values: WrittenValues = {
    attempts: attempt,
    failed,
    planned: false,
    due_at: new Date(now() + pauseMs(attempt, random())).toISOString(),
    error: describeError(error),
  };
  // The revision makes this write fail if an administrator has deleted or retried the event in the meantime.
  await store.write({ changes: [{ kind: "update", collection, key: id, values, revision }] });
  const what = record["kind"] === "job" ? "A job failed in the worker" : "An event was not delivered to the subscriber";
  const message = `${what} ${String(record["subscriber"])} and is`;
  const place = `/outbox/${id}.`;
  if (failed)
    observe({
      kind: "notice",
      level: "error",
      message: `${message} not tried again. Retry or delete it at ${place}`,
      error,
    });
  // Logs only the first failed try and the last one.
  else if (attempt === 1)
    observe({ kind: "notice", level: "info", message: `${message} tried again later. See ${place}`, error });
  return failed ? "failed" : "postponed";
}

/** Returns the pause after a try: twice the last one, up to an hour. Half of it is random. `chance` is from 0 up to 1. */
function pauseMs(attempt: number, chance: number): number {
  const most = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LAST_RETRY_MS);
  return most / 2 + (most / 2) * chance;
}

function readEvent({ record }: Row): RecordEvent {
  return {
    id: record["id"] as number,
    resource: record["resource"] as string,
    record: (record["record"] ?? record["record_uuid"]) as number | string | null,
    kind: record["kind"] as RecordEvent["kind"],
    action: record["action"] as string | null,
    deletedWith: (record["deleted_with"] ?? null) as RecordEvent["deletedWith"],
    at: record["at"] as string,
    cause: record["cause"] as unknown as Cause,
    attempt: (record["attempts"] as number) + 1,
  };
}

/** Returns the useful part of an error's text, without characters that a text column refuses. */
function describeError(error: unknown): string {
  return lineOfThrown(error)
    .toWellFormed()
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ")
    .slice(0, 500);
}
