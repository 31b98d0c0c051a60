import { Worker } from "node:worker_threads";
import type { Observer } from "../../observation.ts";
import { StoreUnavailable, type Outcome, type Transaction } from "../store.ts";
import { unavailable } from "./errors.ts";
import { nameCollections, type Result } from "./named.ts";
import { acknowledgeCommit } from "./snapshot.ts";
import type { FromWriter, ToWriter, WriterData } from "./writer.ts";

/** The thread that writes, as the calling thread sees it. */
export interface WriterThread {
  /** Begins to start the thread, so that the first write does not wait for it. */
  start(): void;
  write(transaction: Transaction): Promise<Outcome>;
  /** Finishes what was begun and ends the thread; `beforeLast` is called when only its connection is left. */
  close(beforeLast: () => void): Promise<void>;
}

interface Waiting {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends transactions to a thread of its own. What is written in one turn of the event loop travels as one message. The
 * thread keeps the process alive only while a write is under way.
 */
export function writerThread(data: WriterData, observe: Observer): WriterThread {
  let worker: Worker | null = null;
  /** Transactions as JSON, not sent yet. */
  let gathered: string[] = [];
  /** Everyone who waits, in the order of the writes; the last ones for what has only been gathered yet. */
  const waiting: Waiting[] = [];
  let failing = false;
  let closed: Promise<void> | null = null;
  let whenIdle = (): void => {};

  function start(): Worker {
    if (worker !== null) return worker;
    const started = new Worker(
      new URL(import.meta.url.endsWith(".ts") ? "./writer.ts" : "./writer.js", import.meta.url),
      {
        name: "latchkey-writer",
        workerData: data,
        // Flags that were meant for the program (--input-type, --eval) are not for the thread.
        execArgv: [],
        // Small, for what it handles is short-lived. The rest is not limited: a thread that hits a limit can take the process along.
        resourceLimits: { maxYoungGenerationSizeMb: 4 },
      },
    );
    let reason: unknown = new Error("the writer thread has ended");
    started.on("message", receive);
    started.on("error", (error) => {
      reason = error;
    });
    started.on("exit", () => {
      if (worker !== started) return;
      worker = null;
      // Those in `gathered` were not sent to it and will go to the next one.
      fail(waiting.splice(0, waiting.length - gathered.length), reason);
      rest();
    });
    // Nobody waits yet: see `flush` and `rest`.
    started.unref();
    return (worker = started);
  }

  function flush(): void {
    const transactions = gathered;
    gathered = [];
    try {
      const running = start();
      running.ref();
      running.postMessage(`[${transactions.join(",")}]` satisfies ToWriter);
    } catch (error) {
      fail(waiting.splice(waiting.length - transactions.length), error);
      rest();
    }
  }

  function receive(message: FromWriter): void {
    if ("failed" in message) fail(waiting.splice(0, message.count), new Error(message.failed));
    else settle(JSON.parse(message.results) as Result[]);
    rest();
  }

  /** With nothing left to wait for, the thread lets the process end. */
  function rest(): void {
    if (waiting.length > 0) return;
    worker?.unref();
    whenIdle();
  }

  function settle(results: readonly Result[]): void {
    acknowledgeCommit();
    if (failing) observe({ kind: "notice", level: "info", message: "SQLite: writes succeed again" });
    failing = false;
    const told = waiting.splice(0, results.length);
    for (const [at, result] of results.entries()) {
      if (result.kind === "fault") told[at]!.reject(new TypeError(result.message));
      else told[at]!.resolve(result);
    }
  }

  function fail(told: readonly Waiting[], reason: unknown): void {
    if (told.length === 0) return;
    const error = unavailable(reason);
    if (!failing) observe({ kind: "notice", level: "error", message: "SQLite: writes fail", error });
    failing = true;
    for (const { reject } of told) reject(error);
  }

  async function finish(beforeLast: () => void): Promise<void> {
    if (waiting.length > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
    beforeLast();
    const running = worker;
    if (running === null) return;
    running.ref();
    await new Promise<void>((resolve) => {
      running.once("exit", () => resolve());
      running.postMessage(null satisfies ToWriter);
    });
  }

  return {
    start: () => void start(),
    write(transaction) {
      if (closed !== null) return Promise.reject(new StoreUnavailable("SQLite: the store is closed"));
      return new Promise((resolve, reject) => {
        const text = JSON.stringify(nameCollections(transaction));
        if (gathered.push(text) === 1) setImmediate(flush);
        waiting.push({ resolve, reject });
      });
    },
    close: (beforeLast) => (closed ??= finish(beforeLast)),
  };
}
