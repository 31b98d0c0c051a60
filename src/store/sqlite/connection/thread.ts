import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";

/** The options of a thread, and the handlers of its messages. */
export interface ThreadOptions<Said extends object> {
  readonly workerData: unknown;
  /**
   * The limit of memory for short-lived objects, in MB. Other memory has no limit, because a thread that exceeds a
   * limit can end the process.
   */
  readonly youngMb: number;
  /**
   * The members that a message of the thread can have. Other messages are ignored: `node --watch` also sends some over
   * this port.
   */
  readonly members: readonly string[];
  onMessage(message: Said): void;
  ended(reason: unknown): void;
}

/**
 * Starts a thread. `callerURL` is the caller's `import.meta.url`, and `name` is the file in the same folder that the
 * thread runs. The thread does not keep the process alive.
 */
export function startThread<Said extends object>(
  callerURL: string,
  name: string,
  { workerData, youngMb, members, onMessage, ended }: ThreadOptions<Said>,
): Worker {
  const worker = new Worker(new URL(`./${name}${callerURL.endsWith(".ts") ? ".ts" : ".js"}`, callerURL), {
    name: `latchkey-${name}`,
    workerData,
    // Flags for the program (--input-type, --eval) do not apply to the thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  });
  let reason: unknown = new Error(`the thread ${name} has stopped`);
  worker.on("message", (message: Said) => {
    if (members.some((member) => member in message)) onMessage(message);
  });
  worker.on("error", (error) => (reason = error));
  worker.on("exit", () => ended(reason));
  worker.unref();
  return worker;
}

/**
 * Lowers the priority of this thread, so that other threads run first if there are fewer cores than threads. With
 * niceness 5, the thread gets a third of the processor time of the thread that answers requests. With niceness 19, it
 * gets a fiftieth.
 */
export function lowerPriority(niceness: number): void {
  // On Linux this affects only the calling thread. On other systems it would affect the process.
  if (process.platform !== "linux") return;
  try {
    setPriority(niceness);
  } catch {
    // The system does not allow the change. The service works without it.
  }
}

const moment = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the calling thread for this number of milliseconds. Linux adds about 0.1 ms. */
export function pauseThread(ms: number): void {
  Atomics.wait(moment, 0, 0, ms);
}
