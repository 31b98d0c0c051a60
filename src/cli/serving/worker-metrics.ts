import type { Worker } from "node:cluster";
import { problem } from "../../door/index.ts";
import { countersOf, formatFamilies, mergeFamilies, type MetricFamily } from "../../door/ops.ts";

/** How long a worker may take to tell its metrics. One that is too busy is told of as it was when it last answered. */
const workerPatienceMs = 1000;

/** How long a worker waits for the metrics of all. */
const primaryPatienceMs = 3000;

/** What a worker says to the primary: what it counts, or that somebody asks it for the metrics of all. */
type FromWorker = { readonly counts: readonly MetricFamily[] } | { readonly metricsFor: number };

/** What the primary says to a worker. */
type FromPrimary = { readonly tellCounts: true } | { readonly metricsOf: number; readonly text: string };

/**
 * The primary's part: a scrape reaches one worker, and tells of all. What ended workers had counted goes on counting.
 * Gives what has to be told of each new worker.
 */
export function gatherWorkerMetrics(): (worker: Worker) => void {
  // Of those that serve, as they last answered.
  const told = new Map<Worker, readonly MetricFamily[]>();
  let ended: readonly MetricFamily[] = [];
  let gathering: Promise<string> | null = null;

  async function gather(): Promise<string> {
    const answered = new Set<Worker>();
    await Promise.all(
      [...told.keys()].map(async (worker) => {
        if (await asks(worker)) answered.add(worker);
      }),
    );
    const alive = [...told].map(([worker, families]) => (answered.has(worker) ? families : countersOf(families)));
    return formatFamilies(mergeFamilies([...alive, ended]));
  }

  return (worker) => {
    worker.on("message", (message: FromWorker) => {
      if ("counts" in message) told.set(worker, message.counts);
      if (!("metricsFor" in message)) return;
      gathering ??= gather().finally(() => (gathering = null));
      void gathering.then((text) => say(worker, { metricsOf: message.metricsFor, text }));
    });
    // Not when it has exited: what it said last may still be on the way then.
    worker.once("disconnect", () => {
      ended = mergeFamilies([ended, countersOf(told.get(worker) ?? [])]);
      told.delete(worker);
    });
  };
}

/** Whether a worker has told its counts in time. */
function asks(worker: Worker): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (answered: boolean): void => {
      clearTimeout(timer);
      worker.off("message", hear).off("disconnect", gone);
      resolve(answered);
    };
    const hear = (message: FromWorker): void => {
      if ("counts" in message) end(true);
    };
    const gone = (): void => end(false);
    const timer = setTimeout(gone, workerPatienceMs);
    worker.on("message", hear).once("disconnect", gone);
    say(worker, { tellCounts: true });
  });
}

/** One that has just ended hears nothing, and need not. */
function say(worker: Worker, message: FromPrimary): void {
  worker.send(message, () => undefined);
}

/** A worker's part. */
export interface WorkerMetrics {
  /** The text for a scrape: of all workers. Throws the problem `unavailable` where the primary does not answer. */
  gather(): Promise<string>;
  /** Tells the primary, and answers it from now on. */
  answerFrom(read: () => readonly MetricFamily[]): void;
  /** Tells the primary what was counted to the end. */
  tellLast(): void;
}

export function workerMetrics(): WorkerMetrics {
  const asking = new Map<number, (text: string) => void>();
  let asked = 0;
  let read: () => readonly MetricFamily[] = () => [];
  const tell = (): void => void process.send!({ counts: read() } satisfies FromWorker);

  process.on("message", (message: FromPrimary) => {
    if ("tellCounts" in message) tell();
    else if ("metricsOf" in message) asking.get(message.metricsOf)?.(message.text);
  });

  return {
    answerFrom(source) {
      read = source;
      tell();
    },
    tellLast: tell,
    gather() {
      const number = ++asked;
      return new Promise<string>((resolve, reject) => {
        const timer = setTimeout(() => {
          asking.delete(number);
          reject(
            problem("unavailable", { detail: "The other processes did not answer.", headers: [["Retry-After", "1"]] }),
          );
        }, primaryPatienceMs);
        asking.set(number, (text) => {
          clearTimeout(timer);
          asking.delete(number);
          resolve(text);
        });
        process.send!({ metricsFor: number } satisfies FromWorker);
      });
    },
  };
}
