import cluster, { type Worker } from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { exits, describeError, print, printError } from "../output.ts";
import { watchForCrashes } from "./crash.ts";
import { endUnread, reportUnended } from "./ending.ts";
import { makeRestartDelay } from "./restart-delay.ts";
import type { Signals } from "./signals.ts";
import { gatherWorkerMetrics } from "./worker-metrics.ts";

/** The message of a worker that has started to serve, with the text for the operator. */
export interface Serving {
  readonly banner: string;
  readonly port: number;
  /** True if the port was chosen at random. */
  readonly isDrawn: boolean;
}

/** The message to a worker that was replaced: it must finish its requests and stop. */
export interface Retiring {
  readonly retire: true;
}

/**
 * The message of a worker after an uncaught fault: it finishes its requests and stops, and another worker must replace
 * it.
 */
export interface Leaving {
  readonly leaving: true;
}

/** The time after which a worker that does not stop is killed. Its requests get 10 s of this time to finish. */
const KILL_AFTER_MS = 15_000;

/**
 * Runs `count` worker processes that share the port. A worker that dies is replaced. SIGHUP replaces all workers, one
 * after another. SIGTERM stops all of them.
 */
export async function runWorkers(count: number, signals: Signals): Promise<void> {
  // Each worker accepts connections from one shared queue. If it dies, its connections are reset. If the primary
  // process distributed the connections, it would keep those that a dead worker has not confirmed.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const crew = createWorkers(count);
  signals.stopWith(crew.stop);
  // The primary has loaded the config file too, and its code may fail later.
  watchForCrashes(null).finishWith(crew.stop);
  let replacing: Promise<unknown> = Promise.resolve();
  signals.hangUpWith(() => {
    replacing = replacing.then(crew.replaceAll).catch((error: unknown) => {
      if (!crew.isStopping())
        logNotice(`The restart failed, and the previous workers still serve: ${describeError(error)}`);
    });
  });

  // The first worker starts alone. It prepares the tables and creates the administrator, and mistakes are reported only
  // once.
  try {
    const { banner } = await crew.start();
    print(banner);
  } catch (error) {
    if (!crew.isStopping()) process.exitCode = error instanceof WorkerEnded ? error.status : exits.failed;
    return crew.stop();
  }
  await crew.fill();
}

interface Workers {
  /** Starts a worker. Resolves when it serves. */
  start(): Promise<Serving>;
  /** Starts the missing workers. */
  fill(): Promise<void>;
  replaceAll(): Promise<void>;
  stop(): void;
  isStopping(): boolean;
}

function createWorkers(count: number): Workers {
  // The workers that serve.
  const members = new Set<Worker>();
  const restartDelay = makeRestartDelay();
  const followMetrics = gatherWorkerMetrics();
  const starting = new Set<Promise<Serving>>();
  /** The port of the first worker. The others must listen on the same port, also if it is a random one. */
  let port: number | null = null;
  let environment: { readonly LATCHKEY_PORT?: string } = {};
  const stopped = new AbortController();
  const isStopping = (): boolean => stopped.signal.aborted;
  /** Waits, but ends early when all workers must stop. */
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal: stopped.signal }).catch(() => undefined);

  function start(): Promise<Serving> {
    const beginning = begin().finally(() => starting.delete(beginning));
    starting.add(beginning);
    return beginning;
  }

  async function begin(): Promise<Serving> {
    const worker = cluster.fork(environment);
    followMetrics(worker);
    const serving = await awaitServing(worker);
    if (serving.port !== (port ??= serving.port)) {
      worker.process.kill("SIGKILL");
      throw onOtherPort(serving, port);
    }
    members.add(worker);
    restartDelay.served();
    watchEnd(worker, (how) => {
      if (members.delete(worker)) void replace(worker, how);
    });
    return serving;
  }

  /**
   * Replaces a worker that has died. Does so without a delay, because the worker has served before, so a start works.
   */
  async function replace(worker: Worker, how: string): Promise<void> {
    if (isStopping()) return;
    // The shared socket closes with the last worker. The next worker gets the same port through its environment.
    if (members.size === 0) environment = { LATCHKEY_PORT: String(port) };
    logNotice(`Worker ${worker.process.pid} ${how}; another one starts.`);
    await fill();
  }

  /** Several calls may run at the same time, so each checks the number of workers before it starts one. */
  async function fill(): Promise<void> {
    while (!isStopping() && members.size + starting.size < count) {
      try {
        await start();
      } catch (error) {
        // For every other error, the worker itself has reported the reason.
        if (error instanceof OtherPort) logNotice(error.message);
        await pause(restartDelay.failed());
      }
    }
  }

  return {
    start,
    fill,
    /** Replaces all workers. A new worker serves before an old one is stopped, so the port always answers. */
    async replaceAll() {
      await Promise.allSettled(starting);
      for (const old of Array.from(members)) {
        if (isStopping()) return;
        await start();
        if (members.delete(old)) retire(old);
      }
      // Other workers may have died in the meantime.
      await fill();
    },
    stop() {
      if (isStopping()) return;
      stopped.abort();
      endAll();
    },
    isStopping,
  };
}

/** Calls `onEnd` when a worker accepts no more requests, and when it has exited. */
function watchEnd(worker: Worker, onEnd: (how: string) => void): void {
  worker.on("message", (message: Leaving | object) => {
    if ("leaving" in message) onEnd("finishes its requests");
  });
  worker.once("exit", (status, signal) => onEnd(`ended with ${signal ?? `status ${status}`}`));
}

/**
 * Asks a replaced worker to stop. Kills it after `KILL_AFTER_MS`, because a blocked worker would keep its memory and
 * its connections forever.
 */
function retire(worker: Worker): void {
  worker.send({ retire: true } satisfies Retiring, () => undefined);
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), KILL_AFTER_MS).unref();
  worker.once("exit", () => clearTimeout(timer));
}

/**
 * Stops the workers, and then this process. If a worker did not stop normally, the exit status of this process is 1.
 */
function endAll(): void {
  void Promise.all(signalAll("SIGTERM").map(awaitEnd)).then((ends) => {
    if (!ends.every(Boolean)) process.exitCode ||= exits.failed;
    endUnread();
  });
  setTimeout(() => {
    for (const { process: late } of signalAll("SIGKILL"))
      reportUnended(`Worker ${late.pid} did not respond for ${KILL_AFTER_MS / 1000} s, and is killed.`);
  }, KILL_AFTER_MS).unref();
}

/** Sends a signal to all living workers, including those that are starting or finishing. Returns these workers. */
function signalAll(signal: NodeJS.Signals): Worker[] {
  const living = Object.values(cluster.workers ?? {}).flatMap((worker) => (worker?.isDead() === false ? worker : []));
  for (const worker of living) worker.kill(signal);
  return living;
}

/**
 * Resolves to true if the worker stopped normally. SIGTERM counts as normal, because it ends a worker that is still
 * starting.
 */
function awaitEnd(worker: Worker): Promise<boolean> {
  return new Promise((resolve) =>
    worker.once("exit", (status, signal) => resolve(status === 0 || signal === "SIGTERM")),
  );
}

class WorkerEnded extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`A worker ended with status ${status} before it could serve.`);
    this.status = status;
  }
}

class OtherPort extends Error {
  constructor(found: number, usedPort: number) {
    super(
      `The config file now has the port ${found}, but the other workers serve on ${usedPort}. Stop and start the service to change the port, or put ${usedPort} back.`,
    );
  }
}

/**
 * Returns the error for a worker whose port differs from the port of the service. A random port differs if all other
 * workers died while this one was starting: the shared socket was closed with the last of them.
 */
function onOtherPort({ port, isDrawn }: Serving, usedPort: number): WorkerEnded | OtherPort {
  return isDrawn ? new WorkerEnded(exits.failed) : new OtherPort(port, usedPort);
}

function awaitServing(worker: Worker): Promise<Serving> {
  return new Promise((resolve, reject) => {
    worker.on("message", (message: object) => {
      if ("banner" in message) resolve(message as Serving);
    });
    worker.once("exit", (status) => reject(new WorkerEnded(status ?? exits.failed)));
    worker.on("error", reject);
  });
}

/** Writes a line in the format of the log to standard error, even if the log of the workers is turned off. */
function logNotice(message: string): void {
  printError(`${JSON.stringify({ time: new Date().toISOString(), level: "error", event: "notice", message })}\n`);
}
