import cluster, { type Worker } from "node:cluster";
import { setTimeout as wait } from "node:timers/promises";
import { exits, messageOf } from "../exit.ts";
import { print, printError } from "../output.ts";
import { watchForCrashes } from "./crash.ts";
import { endUnread, tellUnended } from "./ending.ts";
import { makeRestartDelay } from "./restart-delay.ts";
import type { Signals } from "./signals.ts";
import { gatherWorkerMetrics } from "./worker-metrics.ts";

/** What a worker tells when it serves: what the operator is to read. */
export interface Serving {
  readonly banner: string;
  readonly port: number;
  /** The port was drawn: nobody has chosen it. */
  readonly isDrawn: boolean;
}

/** What a worker is told when another has taken its place: finish and go. */
export interface Retiring {
  readonly retire: true;
}

/** What a worker tells that has come to a fault: it finishes what it has begun, and another one is to take its place. */
export interface Leaving {
  readonly leaving: true;
}

/** A worker that is told to go has 10 s to finish, and whoever does not even notice that is ended. */
const KILL_AFTER_MS = 15_000;

/** Runs `count` processes that share the port. One that dies is replaced; SIGHUP replaces all, one after another; SIGTERM ends all. */
export async function runWorkers(count: number, signals: Signals): Promise<void> {
  // Each takes connections itself from the one queue that all share: what a worker has taken is reset with it. A primary that hands them
  // out keeps what a dead worker never said it had.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const crew = makeCrew(count);
  signals.stopWith(crew.stop);
  // The config file was loaded here too, and what is in it may fail here.
  watchForCrashes(null).finishWith(crew.stop);
  let replacing: Promise<unknown> = Promise.resolve();
  signals.hangUpWith(() => {
    replacing = replacing.then(crew.replaceAll).catch((error: unknown) => {
      if (!crew.isStopping()) tell(`The restart stopped, and those that served before go on: ${messageOf(error)}`);
    });
  });

  // The first one alone: it migrates and makes the administrator, and what is wrong is told once.
  try {
    const { banner } = await crew.start();
    print(banner);
  } catch (error) {
    if (!crew.isStopping()) process.exitCode = error instanceof WorkerEnded ? error.status : exits.failed;
    return crew.stop();
  }
  await crew.fill();
}

interface Crew {
  /** Resolves when one more serves. */
  start(): Promise<Serving>;
  /** Starts what is missing. */
  fill(): Promise<void>;
  replaceAll(): Promise<void>;
  stop(): void;
  isStopping(): boolean;
}

function makeCrew(count: number): Crew {
  // Who serves. Whoever was told to go no longer belongs to them.
  const members = new Set<Worker>();
  const restartDelay = makeRestartDelay();
  const followMetrics = gatherWorkerMetrics();
  const starting = new Set<Promise<Serving>>();
  /** Where the first one serves: port 0 is drawn once. */
  let port: number | null = null;
  let environment: { readonly LATCHKEY_PORT?: string } = {};
  const stopped = new AbortController();
  const isStopping = (): boolean => stopped.signal.aborted;
  /** Ends early when all are to stop. */
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal: stopped.signal }).catch(() => undefined);

  function start(): Promise<Serving> {
    const beginning = begin().finally(() => starting.delete(beginning));
    starting.add(beginning);
    return beginning;
  }

  async function begin(): Promise<Serving> {
    const worker = cluster.fork(environment);
    followMetrics(worker);
    const serving = await servingOf(worker);
    if (serving.port !== (port ??= serving.port)) {
      worker.process.kill("SIGKILL");
      throw onOtherPort(serving, port);
    }
    members.add(worker);
    restartDelay.served();
    followEnd(worker, (how) => {
      if (members.delete(worker)) void replace(worker, how);
    });
    return serving;
  }

  /** At once: it has served, so it did not die of its start, and whoever made it fall must not keep the others waiting. */
  async function replace(worker: Worker, how: string): Promise<void> {
    if (isStopping()) return;
    // With the last one the socket is gone, and nobody else knows its port.
    if (members.size === 0) environment = { LATCHKEY_PORT: String(port) };
    tell(`Worker ${worker.process.pid} ${how}; another one starts.`);
    await fill();
  }

  /** Several may fill at once: each looks again before it starts one. */
  async function fill(): Promise<void> {
    while (!isStopping() && members.size + starting.size < count) {
      try {
        await start();
      } catch (error) {
        // Else the worker has said why.
        if (error instanceof OtherPort) tell(error.message);
        await pause(restartDelay.failed());
      }
    }
  }

  return {
    start,
    fill,
    /** A new one serves before an old one is told to go, so that the port is never without an answer. */
    async replaceAll() {
      await Promise.allSettled(starting);
      for (const old of Array.from(members)) {
        if (isStopping()) return;
        await start();
        if (members.delete(old)) retire(old);
      }
      // Others may have died meanwhile.
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

/** Tells when a worker takes nothing more, and when it has ended. */
function followEnd(worker: Worker, tellEnd: (how: string) => void): void {
  worker.on("message", (message: Leaving | object) => {
    if ("leaving" in message) tellEnd("finishes what it has begun");
  });
  worker.once("exit", (status, signal) => tellEnd(`ended with ${signal ?? `status ${status}`}`));
}

/** Tells a worker that another has its place. One that stands still would keep its memory and its connections for good. */
function retire(worker: Worker): void {
  worker.send({ retire: true } satisfies Retiring, () => undefined);
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), KILL_AFTER_MS).unref();
  worker.once("exit", () => clearTimeout(timer));
}

/** Ends the workers, and this process behind them. Where one of them did not end as it should, neither did this process. */
function endAll(): void {
  void Promise.all(signalAll("SIGTERM").map(endOf)).then((ends) => {
    if (!ends.every(Boolean)) process.exitCode ||= exits.failed;
    endUnread();
  });
  setTimeout(() => {
    for (const { process: late } of signalAll("SIGKILL"))
      tellUnended(`Worker ${late.pid} stood still for ${KILL_AFTER_MS / 1000} s, and is killed.`);
  }, KILL_AFTER_MS).unref();
}

/** Those that start and those that finish are told too. Gives who was. */
function signalAll(signal: NodeJS.Signals): Worker[] {
  const living = Object.values(cluster.workers ?? {}).flatMap((worker) => (worker?.isDead() === false ? worker : []));
  for (const worker of living) worker.kill(signal);
  return living;
}

/** Whether it ended as it should: one that is still starting is ended by the signal itself. */
function endOf(worker: Worker): Promise<boolean> {
  return new Promise((resolve) =>
    worker.once("exit", (status, signal) => resolve(status === 0 || signal === "SIGTERM")),
  );
}

class WorkerEnded extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`A worker ended with status ${status} before it served.`);
    this.status = status;
  }
}

class OtherPort extends Error {
  constructor(found: number, known: number) {
    super(
      `The config file has the port ${found} now, and the others serve on ${known}. Start anew to change it, or put ${known} back.`,
    );
  }
}

/** Why one does not serve. It has drawn another port where it was started before the last of the others died, and the socket went with that. */
function onOtherPort({ port, isDrawn }: Serving, known: number): WorkerEnded | OtherPort {
  return isDrawn ? new WorkerEnded(exits.failed) : new OtherPort(port, known);
}

function servingOf(worker: Worker): Promise<Serving> {
  return new Promise((resolve, reject) => {
    worker.on("message", (message: object) => {
      if ("banner" in message) resolve(message as Serving);
    });
    worker.once("exit", (status) => reject(new WorkerEnded(status ?? exits.failed)));
    worker.on("error", reject);
  });
}

/** A line as the log has them; there for those who run it, also where the workers log nothing. */
function tell(message: string): void {
  printError(`${JSON.stringify({ time: new Date().toISOString(), level: "error", event: "notice", message })}\n`);
}
