import { fork } from "node:child_process";
import type { FromServing, ToServing } from "./messages.ts";

/**
 * A serving process of `latchkey dev`. It loads the files, serves, and stops. Each step waits for a message of the
 * watching process.
 */
export interface Child {
  send(kind: ToServing["kind"]): void;
  /** Lets the process finish its requests and stop. Resolves when it has exited. */
  stop(): Promise<void>;
  /** Kills the process. Only for a process that does not serve yet. */
  discard(): void;
}

/** The handlers for a process. They are not called after `stop` or `discard`. */
export interface ChildEvents {
  onMessage(child: Child, message: FromServing): void;
  onEnd(child: Child, how: string): void;
}

/** The time after which a process that does not stop is killed. Its requests get one second of this time to finish. */
const STOP_WITHIN_MS = 3000;

/** Starts a serving process, which waits for messages. */
export function startChild(environment: NodeJS.ProcessEnv, { onMessage, onEnd }: ChildEvents): Child {
  const process_ = fork(process.argv[1]!, ["dev", "--serving"], {
    env: environment,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = new Promise<void>((resolve) => process_.once("exit", () => resolve()));
  let isConnected = true;
  const child: Child = {
    send: (kind) => void process_.send({ kind } satisfies ToServing, () => undefined),
    async stop() {
      isConnected = false;
      child.send("stop");
      const timer = setTimeout(() => process_.kill("SIGKILL"), STOP_WITHIN_MS);
      await ended;
      clearTimeout(timer);
    },
    discard() {
      isConnected = false;
      process_.kill("SIGKILL");
    },
  };
  process_.on("message", (message) => {
    if (isConnected) onMessage(child, message as FromServing);
  });
  process_.on("error", () => undefined);
  process_.once("exit", (status, signal) => {
    if (isConnected) onEnd(child, signal ?? `status ${status}`);
    isConnected = false;
  });
  return child;
}
