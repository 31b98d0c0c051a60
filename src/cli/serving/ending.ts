import { writeSync } from "node:fs";
import { visibleLines } from "../../door/terminal.ts";
import { exits } from "../exit.ts";

/** How long the last output waits for its reader. */
const UNREAD_MS = 1000;

/**
 * The time that the shutdown may take: 10 s for active requests, and the rest for everything else. The primary process kills its workers
 * after 15 s.
 */
const MOST_SECONDS = 14;

/** Exits the finished process, even if its output is not read or custom code is still running. */
export function endUnread(): void {
  setTimeout(() => process.exit(), UNREAD_MS).unref();
}

/** Exits the process in time, even if it never finishes, for example because of a blocked thread. */
export function endInTime(): void {
  setTimeout(() => {
    tellUnended(`It did not finish within ${MOST_SECONDS} s.`);
    process.exit();
  }, MOST_SECONDS * 1000).unref();
}

/** Reports the reason. The exit status is 1 from now on. */
export function tellUnended(why: string): void {
  process.exitCode = exits.failed;
  writeError(`Latchkey did not stop cleanly. ${why}\n`);
}

/** Writes immediately, because the process may stop at any moment. */
export function writeError(text: string): void {
  try {
    writeSync(2, visibleLines(text));
  } catch {
    // Standard error has no reader.
  }
}
