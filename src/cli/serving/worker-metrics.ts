import type { Worker } from "node:cluster";
import { problem } from "../../door/index.ts";
import { countersOf, formatFamilies, mergeFamilies, type MetricFamily } from "../../door/ops.ts";

/**
 * How long the primary waits for a worker's metrics. After that, it uses the last counters that the worker has sent.
 */
const workerPatienceMs = 1000;

/** How long a worker waits until the primary sends the metrics of all workers. */
const primaryPatienceMs = 3000;

/** A message of a worker to the primary: its metrics, or a request for the metrics of all workers. */
type FromWorker = { readonly counts: readonly MetricFamily[] } | { readonly metricsFor: number };

/** A message of the primary to a worker. */
type FromPrimary = { readonly wantsCounts: true } | { readonly metricsOf: number; readonly text: string };

/**
 * Collects the metrics of all workers in the primary, because a scrape reaches only one worker and must report all.
 * Keeps the counters of stopped workers. Returns a function that must be called for each new worker.
 */
export function gatherWorkerMetrics(): (worker: Worker) => void {
  // The last metrics of each live worker.
  const lastMetrics = new Map<Worker, readonly MetricFamily[]>();
  let ended: readonly MetricFamily[] = [];
  let gathering: Promise<string> | null = null;

  async function gather(): Promise<string> {
    const answered = new Set<Worker>();
    await Promise.all(
      [...lastMetrics.keys()].map(async (worker) => {
        if (await asks(worker)) answered.add(worker);
      }),
    );
    const alive = [...lastMetrics].map(([worker, families]) =>
      answered.has(worker) ? families : countersOf(families),
    );
    return formatFamilies(mergeFamilies([...alive, ended]));
  }

  return (worker) => {
    worker.on("message", (message: FromWorker) => {
      if ("counts" in message) lastMetrics.set(worker, message.counts);
      if (!("metricsFor" in message)) return;
      gathering ??= gather().finally(() => (gathering = null));
      void gathering.then((text) => say(worker, { metricsOf: message.metricsFor, text }));
    });
    // Waits for the disconnect and not for the exit. At the exit, the last message of the worker may not have arrived
    // yet.
    worker.once("disconnect", () => {
      ended = mergeFamilies([ended, countersOf(lastMetrics.get(worker) ?? [])]);
      lastMetrics.delete(worker);
    });
  };
}

/** Asks a worker for its metrics. Returns true if it has sent them in time. */
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
    say(worker, { wantsCounts: true });
  });
}

/** Sends a message. Ignores an error, because the worker may just have stopped. */
function say(worker: Worker, message: FromPrimary): void {
  worker.send(message, () => undefined);
}

/** The metrics of all workers, as one worker sends and receives them. */
export interface WorkerMetrics {
  /**
   * Returns the text for a scrape, with the metrics of all workers. Throws the problem `unavailable` if the primary
   * does not answer in time.
   */
  gather(): Promise<string>;
  /** Sends the metrics to the primary, and answers its requests from now on. */
  answerFrom(read: () => readonly MetricFamily[]): void;
  /** Sends the last metrics to the primary. */
  sendLast(): void;
}

export function workerMetrics(): WorkerMetrics {
  const asking = new Map<number, (text: string) => void>();
  let requestCount = 0;
  let read: () => readonly MetricFamily[] = () => [];
  const sendCounts = (): void => void process.send!({ counts: read() } satisfies FromWorker);

  process.on("message", (message: FromPrimary) => {
    if ("wantsCounts" in message) sendCounts();
    else if ("metricsOf" in message) asking.get(message.metricsOf)?.(message.text);
  });

  return {
    answerFrom(source) {
      read = source;
      sendCounts();
    },
    sendLast: sendCounts,
    gather() {
      const number = ++requestCount;
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
