import { makeLog, type Log } from "../../door/ops.ts";
import { exits } from "../exit.ts";
import { writeError } from "./ending.ts";

/** Once a process has come to a fault that nobody caught, its state can no longer be relied on: this is how long it may take to end. */
const END_WITHIN_MS = 12_000;

/** What is to be done when the process has come to a fault that nobody caught. */
export interface CrashWatch {
  /** What finishes the requests in flight and ends the process; before it is set, the process ends at once. */
  finishWith(finish: () => void): void;
}

/**
 * From now on a fault that nobody caught is a line of the log, what is in flight is finished, and the exit status is 1. Only the
 * command does so: whoever embeds the toolkit decides for a process of their own.
 */
export function watchForCrashes(log: Log | null): CrashWatch {
  let finish: (() => void) | null = null;
  let hasCrashed = false;
  const crash = (message: string, error: unknown): void => {
    tell(log, message, error);
    if (hasCrashed) return;
    hasCrashed = true;
    process.exitCode = exits.failed;
    if (finish === null) process.exit();
    setTimeout(() => process.exit(), END_WITHIN_MS).unref();
    finish();
  };
  process.on("uncaughtException", (error) => crash("A fault that nobody caught: the process ends.", error));
  process.on("unhandledRejection", (error) => crash("A rejection that nobody caught: the process ends.", error));
  return {
    finishWith(act) {
      finish = act;
    },
  };
}

/** On standard error where nothing is logged: that a process ends, and why, is always told. */
function tell(log: Log | null, message: string, error: unknown): void {
  const told = log ?? makeLog("error", writeError)!;
  told.observe({ kind: "notice", level: "error", message, error });
  told.flush();
}
