import { isThrown, lineOfThrown } from "../../core/checking/thrown.ts";
import type { Observer } from "../../core/observation.ts";
import { storedOf } from "../../http/declarations/table.ts";
import type { Change, Store, WrittenValues } from "../../store/store.ts";
import { JobError, type Subscriber, type Worker } from "./contract.ts";
import { LAST_RETRY_MS } from "./due.ts";
import { mountedEvents, readReceiver, type EventRow } from "./events.ts";
import { HANDED_OVER_MS, type Receiver } from "./try.ts";

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

const FIRST_RETRY_MS = 1000;
/** The shortest pause after a try whose outcome is unknown. */
const LATE_MS = 600_000;

/** The outcome of a try. `failed` is final. */
export const outcomes = ["delivered", "postponed", "failed"] as const;
export type Delivered = (typeof outcomes)[number];

/** The outcome of a try, and the changes that store it. */
export interface Outcome {
  readonly kind: Delivered;
  readonly changes: readonly Change[];
  /** The error of the last try. */
  readonly error?: unknown;
}

/**
 * Returns the subscriber or the worker with a name. Returns null if this process has none: another process may have it.
 */
export function findReceiver({ subscribers, workers }: DeliveryOptions, name: string): Receiver | null {
  const worker = workers.find((each) => each.name === name);
  if (worker !== undefined) return { worker };
  const subscriber = subscribers.find((each) => each.name === name);
  return subscriber === undefined ? null : { subscriber };
}

/**
 * Returns the outcome of a try that succeeded. The event is deleted, even if another process has changed it in the
 * meantime.
 */
export function deliveredOutcome(row: EventRow): Outcome {
  const where = { column: "id", operator: "eq", value: storedOf(row).id } as const;
  return { kind: "delivered", changes: [{ kind: "deleteAll", collection, where }] };
}

/** Returns the outcome of a try that failed. */
export function failedOutcome(row: EventRow, error: unknown, options: DeliveryOptions): Outcome {
  const { now, random, attempts } = options;
  const { id: key, attempts: before } = storedOf(row);
  const attempt = before + 1;
  const retry = isThrown(error, JobError) ? error.retry : "soon";
  const failed = retry === "never" || attempt >= attempts;
  const pause = pauseMs(attempt, random()) + (retry === "late" ? LATE_MS : 0);
  const values: WrittenValues = {
    attempts: attempt,
    failed,
    planned: false,
    unconfirmed: false,
    due_at: new Date(now() + Math.min(pause, LAST_RETRY_MS)).toISOString(),
    error: describeError(error),
  };
  // The revision makes this write fail if an administrator has deleted or retried the event in the meantime.
  return {
    kind: failed ? "failed" : "postponed",
    changes: [{ kind: "update", collection, key, values, revision: row.revision }],
    error,
  };
}

/**
 * Returns the change that notes that only the confirmation of a job is missing. If this process dies, the next one
 * finds the note after the longest wait for the confirmation, and counts the job as done.
 */
export function unconfirmedChange(row: EventRow, now: number): Change {
  const due_at = new Date(now + HANDED_OVER_MS + 60_000).toISOString();
  const values: WrittenValues = { unconfirmed: true, planned: false, due_at };
  return { kind: "update", collection, key: storedOf(row).id, values, revision: row.revision };
}

/** Logs the first failed try of an event, and the last one. */
export function logFailure(row: EventRow, { kind, error }: Outcome, observe: Observer): void {
  const { id, kind: what, attempts } = storedOf(row);
  const subject = what === "job" ? "A job failed in the worker" : "An event was not delivered to the subscriber";
  const message = `${subject} ${readReceiver(row)} and is`;
  const place = `/outbox/${id}.`;
  if (kind === "failed")
    observe({
      kind: "notice",
      level: "error",
      message: `${message} not tried again. Retry or delete it at ${place}`,
      error,
    });
  else if (kind === "postponed" && attempts === 0)
    observe({ kind: "notice", level: "info", message: `${message} tried again later. See ${place}`, error });
}

/**
 * Returns the pause after a try: twice the last one, up to an hour. Half of it is random. `chance` is from 0 up to 1.
 */
export function pauseMs(attempt: number, chance: number, longest = LAST_RETRY_MS): number {
  const most = Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), longest);
  return most / 2 + (most / 2) * chance;
}

/** Returns the useful part of an error's text, without characters that a text column refuses. */
function describeError(error: unknown): string {
  const line = lineOfThrown(error).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  // A cut may leave half a character at the end.
  return line.slice(0, 500).toWellFormed();
}
