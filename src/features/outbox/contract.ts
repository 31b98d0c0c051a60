import { made } from "../../core/copy.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Cause, Change, JSONValue, Store } from "../../store/store.ts";

// The contract of the outbox: the subscribers of events, and the workers of queued jobs.

/** An event of a record: enough to look up the record, without its content. */
export interface RecordEvent {
  /** Each try of one delivery has the same id, so that a subscriber can detect a repeated event. */
  readonly id: number;
  /** The plural of the resource: `orders`. */
  readonly resource: string;
  /** The id of the record. Null for an action on the collection, and for records that were deleted with another one. */
  readonly record: number | string | null;
  readonly kind: "create" | "replace" | "update" | "delete" | "action";
  /** The name of the action. Null for every other kind. */
  readonly action: string | null;
  /**
   * The deleted parent, if its deletion also deleted all records of `resource` that belonged to it, for example the
   * order of items. There may have been no such records. `record` is then null. Null for every other event.
   */
  readonly deletedWith: { readonly resource: string; readonly record: number | string } | null;
  /** The time when the event was written: RFC 3339. */
  readonly at: string;
  readonly cause: Cause;
  /** 1 for the first try. */
  readonly attempt: number;
}

/** A receiver of the events of some resources: a mailer, a search index, a webhook. */
export interface Subscriber {
  /**
   * Lower-case words joined by hyphens. The database stores the name. A subscriber with a new name does not get the
   * events of the old name.
   */
  readonly name: string;
  readonly to: readonly Resource[];
  /**
   * Delivers an event. The delivery is done when the promise resolves. After an error it is tried again, after a longer
   * pause each time.
   */
  deliver(event: RecordEvent, delivery: Delivery): Eventually<void>;
}

/** The arguments of a subscriber in addition to the event. */
export interface Delivery {
  /** The store of the service that delivers. An event has only ids. */
  readonly store: Store;
  /** Aborted when the time of the try is over (`timeoutSeconds`), or when the service stops. */
  readonly signal: AbortSignal;
}

/** The arguments of a worker in addition to the job. */
export interface JobDelivery extends Delivery {
  /**
   * Reports that the work is complete, and that only its confirmation is missing: a mail server has the whole mail and
   * has not answered. The try may take ten more minutes. The job counts as done if the process stops in this time.
   */
  readonly handedOver: () => void;
}

/**
 * An error that decides about the next try of a job. `never`: the job fails at once. `late`: the outcome is unknown, so
 * the next try is ten minutes later or more.
 */
export class JobError extends Error {
  static {
    made(this.prototype);
  }

  readonly retry: "never" | "late";

  constructor(message: string, options: { readonly retry: "never" | "late"; readonly cause?: unknown }) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.retry = options.retry;
  }
}

/** Queued work, with its arguments and the number of the try. */
export interface Job<A extends JSONValue = JSONValue> {
  /** Each try of one job has the same id, so that a worker can detect a repeated job. */
  readonly id: number;
  /** The arguments, as they were queued. */
  readonly about: A;
  /** The time when the job was queued: RFC 3339. */
  readonly at: string;
  /** 1 for the first try. */
  readonly attempt: number;
}

/** A kind of queued work of a feature, registered with `Outbox.worker`. */
export interface Worker<A extends JSONValue = JSONValue> {
  /**
   * Lower-case words joined by hyphens, unique among workers and subscribers. The database stores the name. A worker
   * with a new name does not get the jobs of the old name.
   */
  readonly name: string;
  /** A job that runs longer lets another one start, in seconds. Default: 16 jobs run, however long they take. */
  readonly yieldsAfterSeconds?: number;
  /**
   * Does a job. The job is done when the promise resolves. After an error it is tried again, after a longer pause each
   * time, or as a `JobError` says.
   */
  run(job: Job<A>, delivery: JobDelivery): Eventually<void>;
}

/**
 * Returns the changes that queue one job, for any transaction. `about` must not contain a secret, because it is stored
 * and shown to administrators at `/outbox`. `now` and `dueAt` are in milliseconds since the epoch. `dueAt` may be any
 * time in the future. Default: `now`.
 */
export type Queue<A extends JSONValue> = (
  about: A,
  options: { readonly now: number; readonly dueAt?: number },
) => readonly Change[];

/** The functions that the outbox offers to other features. */
export interface Outbox {
  /**
   * Adds a subscriber. Called in the `setUp` of a feature that needs the outbox. Throws `DeclarationError` if the
   * subscriber is invalid.
   */
  subscribe(subscriber: Subscriber): void;
  /**
   * Adds a worker, and returns the function that queues its jobs in any transaction. Called in the `setUp` of a feature
   * that needs the outbox. Throws `DeclarationError` if the worker is invalid.
   *
   * @example
   * ```ts part
   * const remind = host.use(events).worker({ name: "reminder", run: ({ about }) => remindUser(about.user) });
   * await store.write({ changes: [...changes, ...remind({ user: 7 }, { now, dueAt: now + 14 * 86_400_000 })] });
   * ```
   */
  worker<A extends JSONValue>(worker: Worker<A>): Queue<A>;
  /** Delivers due events for which this process holds the lease. Resolves when nothing more is due now. */
  deliverDue(): Promise<void>;
  /** Restarts the tries of an event. Returns false if there is no event with this id. */
  retry(id: number): Promise<boolean>;
}
