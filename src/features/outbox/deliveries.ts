import { makeFailureReporter } from "../../feature/observers.ts";
import { storedOf } from "../../http/declarations/table.ts";
import type { Store } from "../../store/store.ts";
import { deliveredOutcome, failedOutcome, findReceiver, pauseMs, logFailure, unconfirmedChange } from "./delivery.ts";
import type { Delivered, DeliveryOptions, Outcome } from "./delivery.ts";
import { awaitedReceivers, dueEvents } from "./due.ts";
import { readReceiver, type EventRow, type ReceiverColumn } from "./events.ts";
import { leaseOf, OLDER, type Leases } from "./lease.ts";
import { beginTry, type Receiver } from "./try.ts";

/** The largest number of concurrent deliveries to one receiver. */
const MAX_RUNNING = 16;
/** The largest number of rows of one receiver that a process has taken, with those that no longer count as running. */
const MAX_TAKEN = 500;
/** The longest pause before an outcome is stored again, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000;

/** The leases of this process, and the lease that it shares with other processes of this version. */
export interface CourierLeases {
  readonly own: Leases;
  readonly shared: Leases;
}

/**
 * An event that this process has taken. It is not taken again before its outcome is stored and its receiver has ended,
 * so that this process never delivers it twice.
 */
interface Taken {
  readonly to: string;
  /**
   * `running`: a round waits for it. `yielded`: it takes long, and another one may start. `unstored`: its outcome could
   * not be stored yet. `late`: its receiver still runs after the end of its time.
   */
  state: "running" | "yielded" | "unstored" | "late";
  /** Resolves when a round no longer has to wait for it. */
  readonly turn: PromiseWithResolvers<void>;
  /** Resolves when nothing is left to do. */
  done: Promise<void>;
}

/** The deliveries of a process, with a limit for each receiver. */
export interface Deliveries {
  /** Starts the due deliveries. Returns true if more may be due. */
  beginDue(): Promise<boolean>;
  /** The deliveries for which a round waits. */
  underWay(): readonly Promise<void>[];
  /** Resolves when the outcomes of all deliveries are stored, or cannot be stored. Call it after the stop. */
  settle(): Promise<void>;
  /** Returns how many tries since the start had this outcome. */
  count(outcome: Delivered): number;
}

export interface DeliveriesOptions extends DeliveryOptions {
  readonly leases: CourierLeases;
  /** Aborted when the process stops. */
  readonly stopped: AbortSignal;
  /** Called when a delivery lets another one start. */
  readonly onYield: () => void;
}

/** Makes the deliveries of a process. */
export function createDeliveries(options: DeliveriesOptions): Deliveries {
  const { store, now, leases, timeoutSeconds } = options;
  /** The events that this process has taken, by id. */
  const taken = new Map<number, Taken>();
  const keeper = createKeeper(options);
  const chooseKnown = makeKnownChooser(options);

  function begin(row: EventRow, to: string, receiver: Receiver): void {
    const { id } = storedOf(row);
    const turn = Promise.withResolvers<void>();
    const entry: Taken = { to, state: "running", turn, done: Promise.resolve() };
    taken.set(id, entry);
    entry.done = work(row, receiver, entry, { ...options, keeper }).finally(() => {
      taken.delete(id);
      turn.resolve();
    });
  }

  async function beginDueOf(to: string, column: ReceiverColumn): Promise<boolean> {
    const all = [...taken].filter(([, entry]) => entry.to === to);
    const running = all.filter(([, { state }]) => state === "running" || state === "unstored").length;
    const most = Math.max(0, Math.min(MAX_RUNNING - running, MAX_TAKEN - all.length));
    const but = all.map(([id]) => id);
    const receiver = findReceiver(options, to);
    const due = most === 0 || receiver === null ? [] : await dueEvents(store, { to, but, most, now: now(), column });
    for (const row of due) begin(row, readReceiver(row), receiver!);
    return due.length === most;
  }

  return {
    async beginDue() {
      const known = chooseKnown(await awaitedReceivers(store, "receiver"));
      const isKnown = (name: string): boolean => findReceiver(options, name) !== null;
      const older = (await awaitedReceivers(store, "subscriber")).filter(isKnown);
      const running = [...taken.values()].filter(({ state }) => state === "running").map(({ to }) => to);
      const names = [...new Set([...known, ...older, ...running])];
      if (names.length === 0) return false;
      // The leases are longer than the longest try, so that no other process delivers while a try is running.
      const seconds = timeoutSeconds * 2;
      const held = await leases.own.hold(names.map(leaseOf), now(), seconds);
      const isHeld = (name: string): boolean => held.has(leaseOf(name));
      const readable = older.filter(isHeld);
      const holdsOlder = readable.length > 0 && (await leases.shared.hold([OLDER.key], now(), seconds)).size > 0;
      let isMoreDue = false;
      for (const to of known.filter(isHeld)) if (await beginDueOf(to, "receiver")) isMoreDue = true;
      for (const to of holdsOlder ? readable : []) if (await beginDueOf(to, "subscriber")) isMoreDue = true;
      return isMoreDue;
    },
    underWay: () => [...taken.values()].filter(({ state }) => state === "running").map(({ turn }) => turn.promise),
    async settle() {
      await Promise.allSettled([...taken.values()].filter(({ state }) => state !== "late").map(({ done }) => done));
    },
    count: keeper.count,
  };
}

/** Makes the function that chooses the receivers that this process knows. It logs each other name once. */
function makeKnownChooser(options: DeliveryOptions): (names: readonly string[]) => readonly string[] {
  const unknown = new Set<string>();
  return (names) =>
    names.filter((name) => {
      if (findReceiver(options, name) !== null) return true;
      if (unknown.has(name)) return false;
      unknown.add(name);
      const message = `The outbox has work for ${name}, which this process does not have. Another process can do it. See /outbox.`;
      options.observe({ kind: "notice", level: "info", message });
      return false;
    });
}

/** Does the work of one row: calls its receiver and stores the outcome. Ends when the receiver has ended too. */
async function work(
  row: EventRow,
  receiver: Receiver,
  entry: Taken,
  options: DeliveriesOptions & { readonly keeper: Keeper },
): Promise<void> {
  const { store, now, observe, stopped, timeoutSeconds, onYield, keeper } = options;
  if (storedOf(row).unconfirmed) {
    const message = `A mail server did not confirm a mail of the worker ${entry.to} that it has. It counts as sent.`;
    observe({ kind: "notice", level: "info", message });
    return keeper.keep(deliveredOutcome(row), entry);
  }
  let current = row;
  let noting = Promise.resolve();
  const note = (): void => {
    const keep = (noted: EventRow): void => void (current = noted);
    // If the note cannot be stored, a process that follows this one delivers the event again.
    noting = noteUnconfirmed(store, row, now()).then(keep, () => undefined);
  };
  const running = beginTry(row, receiver, {
    store,
    timeoutSeconds,
    stopped,
    onHandedOver: () => entry.state === "yielded" && note(),
  });
  const yieldNow = (): void => {
    entry.state = "yielded";
    entry.turn.resolve();
    onYield();
    if (running.isHandedOver()) note();
  };
  const seconds = "worker" in receiver ? receiver.worker.yieldsAfterSeconds : undefined;
  const timer = seconds === undefined ? undefined : setTimeout(yieldNow, seconds * 1000).unref();
  const result = await running.result;
  clearTimeout(timer);
  await noting;
  if (result.kind === "stopped") return;
  if (result.kind === "done") return keeper.keep(deliveredOutcome(current), entry);
  const outcome = failedOutcome(current, result.error, options);
  await keeper.keep(outcome, entry, () => logFailure(row, outcome, observe));
  entry.state = "late";
  entry.turn.resolve();
  // A receiver that ignores its signal may still succeed. Until it ends, this process does not call it again for this
  // event.
  if (await running.end) await keeper.keep(deliveredOutcome(row), entry);
}

async function noteUnconfirmed(store: Store, row: EventRow, now: number): Promise<EventRow> {
  const outcome = await store.write({ changes: [unconfirmedChange(row, now)] });
  return (outcome.kind === "written" ? outcome.rows[0] : null) ?? row;
}

/** Stores outcomes. */
interface Keeper {
  /**
   * Stores an outcome. If the store refuses it, stores it again after growing pauses, until the process stops. The
   * delivery itself is not repeated.
   */
  keep(outcome: Outcome, entry: Taken, onStored?: () => void): Promise<void>;
  count(outcome: Delivered): number;
}

function createKeeper({ store, observe, random, stopped }: DeliveriesOptions): Keeper {
  const counted: Record<Delivered, number> = { delivered: 0, postponed: 0, failed: 0 };
  const message =
    "Outcomes of deliveries could not be stored. They are stored later, and the deliveries are not repeated.";
  const storing = makeFailureReporter((error) => observe({ kind: "notice", level: "error", message, error }));
  return {
    async keep({ kind, changes }, entry, onStored) {
      for (let failures = 1; ; failures++) {
        try {
          await store.write({ changes });
          storing.well();
          counted[kind]++;
          onStored?.();
          return;
        } catch (error) {
          storing.failed(error);
          entry.state = "unstored";
          entry.turn.resolve();
          if (stopped.aborted) return;
          await pause(pauseMs(failures, random(), LONGEST_PAUSE_MS), stopped);
        }
      }
    },
    count: (outcome) => counted[outcome],
  };
}

/** Waits. Ends early if the process stops. */
async function pause(ms: number, stopped: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms).unref();
  const end = (): void => resolve();
  stopped.addEventListener("abort", end, { once: true });
  await promise;
  clearTimeout(timer);
  stopped.removeEventListener("abort", end);
}
