import type { Worker } from "node:worker_threads";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import type { Observer } from "../../../core/observation.ts";
import type { Refusing } from "../../sql/schema/table-shape.ts";
import { StoreUnavailable, type Outcome, type Transaction } from "../../store.ts";
import { toError, unavailable } from "../connection/errors.ts";
import { startThread } from "../connection/thread.ts";
import { nameCollections, type Result } from "../named.ts";
import { acknowledgeCommit } from "../reads/snapshot.ts";
import type { FromWriter, SomeResults, ToWriter, WriterData } from "./writer.ts";

/** The writer thread, as the calling thread uses it. */
export interface WriterThread {
  /** Starts the thread in advance, so the first write does not wait for it. */
  start(): void;
  write(transaction: Transaction): Promise<Outcome>;
  /** Finishes the active writes and stops the thread. Calls `beforeLast` before the thread closes its connection. */
  close(beforeLast: () => void): Promise<void>;
}

interface WriteWaiter {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The maximum number of outcomes that are reported in one turn of the event loop. Each outcome leads to a response, and
 * often to the next request.
 */
const mostOutcomes = 8;

/**
 * The maximum number of transactions in a group, and the maximum length of their JSON in characters. In larger groups,
 * the first transaction would wait too long for its response.
 */
const largestGroup = 1000;
const longestGroup = 1024 * 1024;

/**
 * Sends transactions to a separate thread. The transactions that arrive while the thread is busy form a group: one
 * message, one disk sync and one answer. The thread keeps the process alive only during a write.
 */
export function writerThread(data: WriterData, observe: Observer, refusing: Refusing): WriterThread {
  let worker: Worker | null = null;
  /** Transactions that are not sent to the thread yet, as JSON. */
  const gathered: string[] = [];
  /**
   * Whether the thread has a group. A second one in advance would make groups smaller, and each one costs a disk sync.
   */
  let isBusy = false;
  /** The waiting callers, in the order of the writes. The last ones belong to transactions in `gathered`. */
  const waiting: WriteWaiter[] = [];
  const reporter = makeReporter(observe, refusing, () => unrefIfIdle());
  let closed: Promise<void> | null = null;
  let whenIdle = (): void => {};

  function start(): Worker {
    if (worker !== null) return worker;
    const started = startThread<FromWriter>(import.meta.url, "writer", {
      workerData: data,
      youngMb: 4,
      members: ["results", "failed"],
      onMessage: receive,
      ended(reason) {
        if (worker !== started) return;
        worker = null;
        isBusy = false;
        // The transactions in `gathered` were not sent to this thread. The next thread gets them.
        reporter.fail(waiting.splice(0, waiting.length - gathered.length), reason);
        flush();
        unrefIfIdle();
      },
    });
    return (worker = started);
  }

  function flush(): void {
    if (isBusy || gathered.length === 0) return;
    const transactions = gathered.splice(0, nextGroup(gathered));
    try {
      const running = start();
      running.ref();
      running.postMessage(`[${transactions.join(",")}]` satisfies ToWriter);
      isBusy = true;
    } catch (error) {
      reporter.fail(waiting.splice(waiting.length - gathered.length - transactions.length, transactions.length), error);
      unrefIfIdle();
      setImmediate(flush);
    }
  }

  function receive(message: FromWriter): void {
    isBusy = false;
    flush();
    if ("failed" in message) reporter.fail(waiting.splice(0, message.count), toError(message.failed));
    else reporter.settle(waiting, message.results);
    unrefIfIdle();
  }

  /** If no write is waiting, lets the process exit although the thread exists. */
  function unrefIfIdle(): void {
    if (waiting.length > 0 || reporter.isUnderWay()) return;
    worker?.unref();
    whenIdle();
  }

  async function finish(beforeLast: () => void): Promise<void> {
    if (waiting.length > 0 || reporter.isUnderWay()) await new Promise<void>((resolve) => (whenIdle = resolve));
    beforeLast();
    if (worker !== null) await stopWorker(worker);
  }

  return {
    start: () => void start(),
    write(transaction) {
      if (closed !== null) return Promise.reject(new StoreUnavailable("SQLite: the store is closed"));
      return new Promise((resolve, reject) => {
        if (gathered.push(JSON.stringify(nameCollections(transaction))) === 1) setImmediate(flush);
        waiting.push({ resolve, reject });
      });
    },
    close: (beforeLast) => (closed ??= finish(beforeLast)),
  };
}

/** The number of transactions in the next group. */
function nextGroup(gathered: readonly string[]): number {
  let count = 0;
  let length = 0;
  for (const each of gathered) {
    length += each.length;
    if (count > 0 && (count === largestGroup || length > longestGroup)) break;
    count++;
  }
  return count;
}

async function stopWorker(running: Worker): Promise<void> {
  running.ref();
  await new Promise<void>((resolve) => {
    running.once("exit", () => resolve());
    running.postMessage(null satisfies ToWriter);
  });
}

interface WaiterNotifier {
  /** Passes each result to the write that waits for it, in order. */
  settle(waiting: WriteWaiter[], results: readonly SomeResults[]): void;
  fail(waiters: readonly WriteWaiter[], reason: unknown): void;
  isUnderWay(): boolean;
}

/**
 * Returns the functions that report outcomes to the waiting callers. They also report to the operator when writes start
 * to fail and when they succeed again.
 */
function makeReporter(observe: Observer, refusing: Refusing, done: () => void): WaiterNotifier {
  /** Results that have arrived and are not parsed yet. */
  const unread: { readonly waiters: readonly WriteWaiter[]; readonly json: string }[] = [];
  /** Committed outcomes that are not reported yet. */
  const outcomes: { readonly waiter: WriteWaiter; readonly result: Result }[] = [];
  let underWay = false;
  let failing = false;

  /** Reports a few outcomes in each turn of the event loop, so that a large group does not delay reads. */
  function reportOutcomes(): void {
    if (outcomes.length === 0) read();
    for (const { waiter, result } of outcomes.splice(0, mostOutcomes)) {
      if (result.kind === "fault") waiter.reject(new TypeError(result.message));
      else if (result.kind === "outdated") waiter.reject(refusing(result.collection));
      else waiter.resolve(result);
    }
    underWay = outcomes.length > 0 || unread.length > 0;
    if (underWay) setImmediate(reportOutcomes);
    else done();
  }

  function read(): void {
    const next = unread.shift();
    if (next === undefined) return;
    const results = valueOfJSON(next.json) as readonly Result[];
    for (const [at, waiter] of next.waiters.entries()) outcomes.push({ waiter, result: results[at]! });
  }

  return {
    settle(waiting, results) {
      acknowledgeCommit();
      if (failing) observe({ kind: "notice", level: "info", message: "SQLite: writes succeed again" });
      failing = false;
      for (const { count, json } of results) unread.push({ waiters: waiting.splice(0, count), json });
      if (!underWay) reportOutcomes();
    },
    fail(waiters, reason) {
      if (waiters.length === 0) return;
      const error = unavailable(reason);
      if (!failing) observe({ kind: "notice", level: "error", message: "SQLite: writes fail", error });
      failing = true;
      for (const { reject } of waiters) reject(error);
    },
    isUnderWay: () => underWay,
  };
}
