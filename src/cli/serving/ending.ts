import { writeSync } from "node:fs";
import { visibleLines } from "../../door/terminal.ts";
import { exits } from "../output.ts";

/** How long a process waits until its last output is read. */
const UNREAD_MS = 1000;

/**
 * The time limit for the whole shutdown, of which active requests get 10 s. It is shorter than the 15 s after which the
 * primary process kills its workers.
 */
const MOST_SECONDS = 14;

/** Exits a process that has finished its work, even if its output is not read or other code is still running. */
export function endUnread(): void {
  setTimeout(() => process.exit(), UNREAD_MS).unref();
}

/**
 * Exits the process after `MOST_SECONDS`, even if the shutdown does not finish, for example because of a blocked
 * thread.
 */
export function endInTime(): void {
  setTimeout(() => {
    reportUnended(`It did not finish within ${MOST_SECONDS} s.`);
    process.exit();
  }, MOST_SECONDS * 1000).unref();
}

/** Reports why the process did not stop cleanly, and sets the exit status to 1. */
export function reportUnended(why: string): void {
  process.exitCode = exits.failed;
  writeError(`Latchkey did not stop cleanly. ${why}\n`);
}

/** Writes synchronously to standard error, because the process may end at any moment. */
export function writeError(text: string): void {
  try {
    writeSync(2, visibleLines(text));
  } catch {
    // The write fails if standard error has no reader.
  }
}
