import { makeLog, type Log } from "../../door/ops.ts";
import { exits } from "../exit.ts";
import { writeError } from "./ending.ts";

/** The time that a process may take to stop after an uncaught fault. Its state is no longer reliable. */
const END_WITHIN_MS = 12_000;

/** The reaction to an uncaught fault. */
export interface CrashWatch {
  /** Sets the function that finishes the active requests and stops the process. Before it is set, the process stops immediately. */
  finishWith(finish: () => void): void;
}

/**
 * From now on, an uncaught fault is logged, active requests are finished, and the exit status is 1. Only the command does this: a program
 * that embeds the toolkit decides for itself.
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
  process.on("uncaughtException", (error) => crash("Uncaught exception: the process ends.", error));
  process.on("unhandledRejection", (error) => crash("Unhandled rejection: the process ends.", error));
  return {
    finishWith(act) {
      finish = act;
    },
  };
}

/** Reports the fault. Without a log, it writes to standard error, because the end of a process and its reason are always reported. */
function tell(log: Log | null, message: string, error: unknown): void {
  const activeLog = log ?? makeLog("error", writeError)!;
  activeLog.observe({ kind: "notice", level: "error", message, error });
  activeLog.flush();
}
