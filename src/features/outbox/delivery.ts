import { lineOfThrown } from "../../core/checking/thrown.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Observer } from "../../core/observation.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Cause, Row, Store, WrittenValues } from "../../store/store.ts";
import { LAST_RETRY_MS } from "./due.ts";
import { mountedEvents } from "./events.ts";

/** An event of a record: enough to look up the record, without its content. */
export interface RecordEvent {
  /** The same for each try of one delivery, so that a subscriber can detect a repeated event. */
  readonly id: number;
  /** The plural of the resource: `orders`. */
  readonly resource: string;
  /** The id of the record. Null for an action on the collection, and for records that were deleted with another one. */
  readonly record: number | string | null;
  readonly kind: "create" | "replace" | "update" | "delete" | "action";
  /** The name of the action. Null for every other kind. */
  readonly action: string | null;
  /**
   * The record whose deletion deleted all records of `resource` that belonged to it, as items go with their order. `record` is null then. There
   * may have been none. Null for every other event.
   */
  readonly deletedWith: { readonly resource: string; readonly record: number | string } | null;
  /** The time when it was written: RFC 3339. */
  readonly at: string;
  readonly cause: Cause;
  /** 1 for the first try. */
  readonly attempt: number;
}

/** A receiver of the events of some resources: a mailer, a search index, a webhook. */
export interface Subscriber {
  /** Lower-case words joined by hyphens. The name is stored in the database: another name is another subscriber. */
  readonly name: string;
  readonly to: readonly Resource[];
  /** Delivers an event. It is done when the promise resolves. After any error it is tried again, later each time. */
  deliver(event: RecordEvent, delivery: Delivery): Eventually<void>;
}

/** The arguments of a subscriber in addition to the event. */
export interface Delivery {
  /** The store of the service that delivers. An event has only ids. */
  readonly store: Store;
  /** Aborted when its time is over, or when the service stops. */
  readonly signal: AbortSignal;
}

export interface DeliveryOptions {
  readonly store: Store;
  readonly subscribers: readonly Subscriber[];
  readonly observe: Observer;
  readonly now: () => number;
  /** Returns a number from 0 up to 1, so that deliveries that failed together are not retried together. */
  readonly random: () => number;
  readonly attempts: number;
  readonly timeoutSeconds: number;
}

const { collection } = mountedEvents;

/** The largest number of concurrent deliveries to one subscriber. */
export const TOGETHER = 16;
const FIRST_RETRY_MS = 1000;

/** The outcome of a try. `failed` is final. */
export const outcomes = ["delivered", "postponed", "failed"] as const;
export type Delivered = (typeof outcomes)[number];

/**
 * Delivers one event and stores the outcome. Returns null if the process stops first. Throws if the outcome cannot be stored. The event is
 * then delivered again.
 */
export async function deliver(row: Row, options: DeliveryOptions, stopped: AbortSignal): Promise<Delivered | null> {
  const { store, subscribers, timeoutSeconds } = options;
  const event = eventOf(row);
  // The subscriber no longer exists. The event is deleted when a program that knows the name delivers it, or by an administrator.
  const subscriber = subscribers.find(({ name }) => name === row.record["subscriber"]);
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutSeconds * 1000)]);
  try {
    if (subscriber === undefined) throw new Error("No subscriber of this name is there.");
    await inTime(async () => subscriber.deliver(event, { store, signal }), signal);
  } catch (error) {
    // The shutdown of the process interrupted it, which is not a failure of the subscriber.
    return stopped.aborted ? null : postpone(row, event, error, options);
  }
  await store.write({
    changes: [{ kind: "deleteAll", collection, where: { column: "id", operator: "eq", value: event.id } }],
  });
  return "delivered";
}

/** Stops waiting for a subscriber that ignores its signal. */
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

async function postpone(row: Row, event: RecordEvent, error: unknown, options: DeliveryOptions): Promise<Delivered> {
  const { store, observe, now, random, attempts } = options;
  const failed = event.attempt >= attempts;
  const values: WrittenValues = {
    attempts: event.attempt,
    failed,
    due_at: new Date(now() + pauseMs(event.attempt, random())).toISOString(),
    error: textOf(error),
  };
  // If an administrator has deleted or retried the event in the meantime, that change wins.
  await store.write({ changes: [{ kind: "update", collection, key: event.id, values, revision: row.revision }] });
  const message = `An event was not delivered to ${String(row.record["subscriber"])} and is`;
  const place = `/outbox/${event.id}.`;
  if (failed)
    observe({ kind: "notice", level: "error", message: `${message} not tried again by itself: ${place}`, error });
  // The tries in between are not reported.
  else if (event.attempt === 1)
    observe({ kind: "notice", level: "info", message: `${message} tried again: ${place}`, error });
  return failed ? "failed" : "postponed";
}

/** Doubles the pause each time, up to an hour. Half of it is random. */
function pauseMs(attempt: number, chance: number): number {
  const most = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LAST_RETRY_MS);
  return most / 2 + (most / 2) * chance;
}

function eventOf({ record }: Row): RecordEvent {
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
function textOf(error: unknown): string {
  return lineOfThrown(error)
    .toWellFormed()
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ")
    .slice(0, 500);
}
