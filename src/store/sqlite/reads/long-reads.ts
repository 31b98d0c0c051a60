import type { Worker } from "node:worker_threads";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { nameInner } from "../../inner-collections.ts";
import { StoreTimeout, StoreUnavailable } from "../../store.ts";
import { toError, storeError, unavailable } from "../connection/errors.ts";
import { startThread } from "../connection/thread.ts";
import type { FromLongReader, LongRead, LongReaderData, LongReadings } from "./long-reader.ts";
import type { SQLiteReader } from "./reader.ts";

/** Threads for long reads: reads that may look at all rows of a table. */
export interface LongReads {
  /** Runs a read. Rejects with `StoreTimeout` if it takes too long. */
  read<M extends keyof LongReadings>(method: M, query: LongReadings[M]): Promise<ReturnType<SQLiteReader[M]>>;
  /** Cancels the running reads and stops the threads. */
  close(): Promise<void>;
}

/**
 * The maximum number of threads. A caller has at most two long reads at a time, so at least two callers are served at
 * the same time.
 */
const mostThreads = 4;

/** The number of reads that may wait for a thread. */
const mostWaiting = 64;

/** The time after which an idle thread is stopped, in milliseconds. */
const idleMs = 30_000;

interface WaitingRead {
  readonly request: LongRead;
  readonly resolve: (answer: FromLongReader) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  reads: WaitingRead | null;
  idleTimer: NodeJS.Timeout | null;
}

/**
 * Creates the threads for long reads. Each one starts when it is first needed. A thread keeps the process alive only
 * during a read.
 */
export function longReads(data: LongReaderData): LongReads {
  const threads = new Set<Thread>();
  const waiting: WaitingRead[] = [];
  let isClosed = false;

  function start(): Thread {
    const worker = startThread<FromLongReader>(import.meta.url, "long-reader", {
      workerData: data,
      youngMb: 4,
      members: ["kind"],
      onMessage(answer) {
        const done = thread.reads;
        thread.reads = null;
        next();
        done?.resolve(answer);
      },
      ended(reason) {
        threads.delete(thread);
        thread.reads?.reject(isClosed ? closed() : unavailable(reason));
        thread.reads = null;
        next();
      },
    });
    const thread: Thread = { worker, reads: null, idleTimer: null };
    threads.add(thread);
    return thread;
  }

  /** Sends waiting reads to idle threads. */
  function next(): void {
    while (waiting.length > 0) {
      const thread = [...threads].find(({ reads }) => reads === null) ?? (threads.size < mostThreads ? start() : null);
      if (thread === null) return;
      give(thread, waiting.shift()!);
    }
    for (const thread of threads) if (thread.reads === null) startIdleTimer(thread);
  }

  function startIdleTimer(thread: Thread): void {
    if (thread.idleTimer !== null) return;
    thread.worker.unref();
    thread.idleTimer = setTimeout(() => {
      threads.delete(thread);
      void thread.worker.terminate();
    }, idleMs).unref();
  }

  async function read(request: LongRead): Promise<unknown> {
    if (isClosed) throw closed();
    if (waiting.length >= mostWaiting) throw new StoreUnavailable("SQLite: too many long reads are waiting");
    const answer = await new Promise<FromLongReader>((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      next();
    });
    return givenBy(answer, request, data.limitMs);
  }

  return {
    read: (method, { collection, ...query }) =>
      read({
        method,
        collection: collection.name,
        query: { ...query, where: nameInner(query.where) },
      } as LongRead) as Promise<never>,
    async close() {
      isClosed = true;
      for (const { reject } of waiting.splice(0)) reject(closed());
      await Promise.all(
        [...threads].map(({ worker, idleTimer: timer }) => {
          if (timer !== null) clearTimeout(timer);
          return worker.terminate();
        }),
      );
    },
  };
}

/** Sends a read to an idle thread, and keeps the process alive meanwhile. */
function give(thread: Thread, work: WaitingRead): void {
  if (thread.idleTimer !== null) clearTimeout(thread.idleTimer);
  thread.idleTimer = null;
  thread.reads = work;
  thread.worker.ref();
  thread.worker.postMessage(work.request);
}

function givenBy(answer: FromLongReader, { method }: LongRead, limitMs: number): unknown {
  if (answer.kind === "overdue") throw new StoreTimeout(`SQLite: given up after ${limitMs / 1000} s`);
  if (answer.kind === "failed") throw storeError(toError(answer.failure));
  return method === "list" ? valueOfJSON(answer.result as string) : answer.result;
}

function closed(): Error {
  return new StoreUnavailable("SQLite: the store is closed");
}
