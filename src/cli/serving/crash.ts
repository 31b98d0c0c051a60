import { makeLog, type Log } from "../../door/ops.ts";
import { exits } from "../output.ts";
import { writeError } from "./ending.ts";

/** The time from an uncaught fault until the process exits, because its state is no longer reliable. */
const END_WITHIN_MS = 12_000;

/** The reaction to an uncaught fault. */
export interface CrashWatch {
  /**
   * Sets the function that finishes the active requests and stops the process. Before it is set, the process stops
   * immediately.
   */
  finishWith(finish: () => void): void;
}

/**
 * From now on, the process reacts to an uncaught fault: it logs the fault, finishes active requests and exits with
 * status 1. Only the command does this. A program that embeds the toolkit decides for itself.
 */
export function watchForCrashes(log: Log | null): CrashWatch {
  let finish: (() => void) | null = null;
  let hasCrashed = false;
  const crash = (message: string, error: unknown): void => {
    logFault(log, message, error);
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

/**
 * Logs the fault. If the log is turned off, writes to standard error, because the reason for the end of a process is
 * always reported.
 */
function logFault(log: Log | null, message: string, error: unknown): void {
  const activeLog = log ?? makeLog("error", writeError)!;
  activeLog.observe({ kind: "notice", level: "error", message, error });
  activeLog.flush();
}
