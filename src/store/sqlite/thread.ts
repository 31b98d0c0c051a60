import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";

/** What a thread is started with, and what is done with what it says. */
export interface ThreadOptions<Said extends object> {
  readonly workerData: unknown;
  /** How much it may hold of what is short-lived, in MB. The rest is not limited: a thread that hits a limit can take the process along. */
  readonly youngMb: number;
  /** Of these each of its messages has one: Node says things of its own over the same port (`node --watch`). */
  readonly members: readonly string[];
  heard(message: Said): void;
  ended(reason: unknown): void;
}

/** Starts a thread from the file of that name beside another (`import.meta.url`). By itself it does not keep the process alive. */
export function startThread<Said extends object>(
  beside: string,
  name: string,
  { workerData, youngMb, members, heard, ended }: ThreadOptions<Said>,
): Worker {
  const worker = new Worker(new URL(`./${name}${beside.endsWith(".ts") ? ".ts" : ".js"}`, beside), {
    name: `latchkey-${name}`,
    workerData,
    // Flags that were meant for the program (--input-type, --eval) are not for the thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  });
  let reason: unknown = new Error(`the thread ${name} has ended`);
  worker.on("message", (message: Said) => {
    if (members.some((member) => member in message)) heard(message);
  });
  worker.on("error", (error) => (reason = error));
  worker.on("exit", () => ended(reason));
  worker.unref();
  return worker;
}

/** Lets other threads go first, where there are fewer cores than threads: at 5 this one has a third of the share of the thread that answers, at 19 a fiftieth. */
export function giveWay(niceness: number): void {
  // On Linux this is about the calling thread alone; elsewhere it would be about the process.
  if (process.platform !== "linux") return;
  try {
    setPriority(niceness);
  } catch {
    // Not allowed here; nothing depends on it.
  }
}

const moment = new Int32Array(new SharedArrayBuffer(4));

/** Lets the calling thread sleep, in milliseconds; Linux adds some 0.1. */
export function pauseThread(ms: number): void {
  Atomics.wait(moment, 0, 0, ms);
}
