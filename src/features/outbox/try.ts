import type { Store } from "../../store/store.ts";
import { JobError, type JobDelivery, type Subscriber, type Worker } from "./contract.ts";
import { readEvent, type EventRow } from "./events.ts";
import { readJob } from "./jobs.ts";

/** The longest time of a try after its work was handed over (RFC 5321 §4.5.3.2.6), in milliseconds. */
export const HANDED_OVER_MS = 600_000;

/** A subscriber or a worker. */
export type Receiver = { readonly subscriber: Subscriber } | { readonly worker: Worker };

/** The result of a try. `stopped`: the process stops, and the work was not done. */
export type TryResult =
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "stopped" };

/** A try of one event or job. */
export interface Try {
  /** Resolves when the receiver is done, when its time is over, or when the process stops. Never rejects. */
  readonly result: Promise<TryResult>;
  /**
   * Resolves when the receiver itself ends. This may be after the end of its time. Returns true if the receiver did not
   * fail.
   */
  readonly end: Promise<boolean>;
  /** Returns true if only the confirmation of the work is missing. */
  isHandedOver(): boolean;
}

export interface TryOptions {
  readonly store: Store;
  readonly timeoutSeconds: number;
  /** Aborted when the process stops. */
  readonly stopped: AbortSignal;
  /** Called when only the confirmation of the work is missing. */
  readonly onHandedOver: () => void;
}

/** Calls the receiver of a row. */
export function beginTry(row: EventRow, receiver: Receiver, options: TryOptions): Try {
  const { store, timeoutSeconds, stopped, onHandedOver } = options;
  const limit = new AbortController();
  const limitTo = (ms: number): NodeJS.Timeout =>
    setTimeout(() => limit.abort(new DOMException("The time of the try is over.", "TimeoutError")), ms);
  let timer = limitTo(timeoutSeconds * 1000);
  let handedOver = false;
  const signal = AbortSignal.any([stopped, limit.signal]);
  const delivery: JobDelivery = {
    store,
    signal,
    handedOver() {
      if (handedOver || signal.aborted) return;
      handedOver = true;
      clearTimeout(timer);
      timer = limitTo(HANDED_OVER_MS);
      onHandedOver();
    },
  };
  const task = call(row, receiver, delivery);
  const result = inTime(task, signal)
    .then(
      (): TryResult => ({ kind: "done" }),
      (error: unknown): TryResult => {
        if (limit.signal.aborted && handedOver) return { kind: "failed", error: withoutOutcome(error) };
        if (!stopped.aborted) return { kind: "failed", error };
        // If the stop of the process interrupted the try, the receiver did not fail.
        return handedOver ? { kind: "done" } : { kind: "stopped" };
      },
    )
    .finally(() => clearTimeout(timer));
  const end = task.then(
    () => true,
    () => false,
  );
  return { result, end, isHandedOver: () => handedOver };
}

async function call(row: EventRow, receiver: Receiver, delivery: JobDelivery): Promise<void> {
  if ("worker" in receiver) await receiver.worker.run(readJob(row), delivery);
  else await receiver.subscriber.deliver(readEvent(row), delivery);
}

/** Returns an error for work that may have been done. */
function withoutOutcome(error: unknown): JobError {
  return new JobError("The confirmation took too long.", { retry: "late", cause: error });
}

/** Waits for a task. Throws when the signal is aborted, even if the task ignores the signal. */
async function inTime(task: Promise<void>, signal: AbortSignal): Promise<void> {
  let forget = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    const end = (): void => reject(new Error("It took too long.", { cause: signal.reason }));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    forget = () => signal.removeEventListener("abort", end);
  });
  try {
    await Promise.race([task, over]);
  } finally {
    forget();
  }
}
