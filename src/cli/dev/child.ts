import { fork } from "node:child_process";
import type { FromServing, ToServing } from "./messages.ts";

/** A process that loads, serves and stops as it is told. */
export interface Child {
  tell(kind: ToServing["kind"]): void;
  /** Lets it finish what it answers, and resolves when it has ended. */
  stop(): Promise<void>;
  /** Ends it at once: nobody is being answered. */
  discard(): void;
}

/** What is heard of a process, until it is stopped or discarded. */
export interface ChildEvents {
  onMessage(child: Child, message: FromServing): void;
  onEnd(child: Child, how: string): void;
}

/** Requests get a second, and whoever does not notice that is ended. */
const STOP_WITHIN_MS = 3000;

/** Starts one, which loads the package itself and then waits. */
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
