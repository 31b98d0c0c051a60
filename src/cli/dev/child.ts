import { fork } from "node:child_process";
import type { FromServing, ToServing } from "./messages.ts";

/** A process that loads, serves and stops on command. */
export interface Child {
  tell(kind: ToServing["kind"]): void;
  /** Lets the process finish its requests. Resolves when it has exited. */
  stop(): Promise<void>;
  /** Ends the process immediately, because it has no requests. */
  discard(): void;
}

/** The events of a process, until it is stopped or discarded. */
export interface ChildEvents {
  onMessage(child: Child, message: FromServing): void;
  onEnd(child: Child, how: string): void;
}

/** Requests get one second. A process that does not stop after this time is killed. */
const STOP_WITHIN_MS = 3000;

/** Starts a process. It loads the package and then waits. */
export function startChild(environment: NodeJS.ProcessEnv, { onMessage, onEnd }: ChildEvents): Child {
  const process_ = fork(process.argv[1]!, ["dev", "--serving"], {
    env: environment,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = new Promise<void>((resolve) => process_.once("exit", () => resolve()));
  let isHeard = true;
  const child: Child = {
    tell: (kind) => void process_.send({ kind } satisfies ToServing, () => undefined),
    async stop() {
      isHeard = false;
      child.tell("stop");
      const timer = setTimeout(() => process_.kill("SIGKILL"), STOP_WITHIN_MS);
      await ended;
      clearTimeout(timer);
    },
    discard() {
      isHeard = false;
      process_.kill("SIGKILL");
    },
  };
  process_.on("message", (message) => {
    if (isHeard) onMessage(child, message as FromServing);
  });
  process_.on("error", () => undefined);
  process_.once("exit", (status, signal) => {
    if (isHeard) onEnd(child, signal ?? `status ${status}`);
    isHeard = false;
  });
  return child;
}
