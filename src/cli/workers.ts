import cluster, { type Worker } from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";

// A worker that cannot start must not be started a thousand times a second.
const RESTART_DELAY_MS = 1000;

/** What a worker tells when it serves: what the operator is to read. */
export interface Serving {
  readonly banner: string;
}

/** Runs `count` processes that share the port. One that dies is replaced; SIGHUP replaces all, one after another; SIGTERM ends all. */
export async function runWorkers(count: number): Promise<void> {
  const workers = new Set<Worker>();
  let stopping = false;

  const start = (): Promise<Serving> => {
    const worker = cluster.fork();
    workers.add(worker);
    worker.once("exit", (code) => {
      const wasServing = workers.delete(worker);
      if (!stopping && wasServing && code !== 0)
        void wait(RESTART_DELAY_MS).then(() => (stopping ? undefined : start().catch(() => undefined)));
    });
    return new Promise((resolve, reject) => {
      worker.once("message", (serving: Serving) => resolve(serving));
      worker.once("exit", (code) => reject(new Error(`A worker ended with status ${code} before it served.`)));
    });
  };

  const stop = (): void => {
    stopping = true;
    for (const worker of workers) worker.kill("SIGTERM");
  };
  let replacing: Promise<unknown> = Promise.resolve();
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => {
    replacing = replacing
      .then(() => replaceAll(workers, start))
      .catch((error: unknown) => process.stderr.write(`The restart stopped half-way: ${String(error)}\n`));
  });

  // The first one alone: it migrates and makes the administrator, and what is wrong is told once.
  const first = await start().catch(() => null);
  if (first === null) {
    stop();
    process.exitCode = 1;
    return;
  }
  process.stdout.write(first.banner);
  for (let more = 1; more < count && !stopping; more++) await start();
}

/** A new one serves before an old one is told to stop, so that the port is never without an answer. */
async function replaceAll(workers: Set<Worker>, start: () => Promise<Serving>): Promise<void> {
  const olds = [...workers];
  for (const old of olds) {
    await start();
    workers.delete(old);
    old.kill("SIGTERM");
  }
}
