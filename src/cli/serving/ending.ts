import { writeSync } from "node:fs";
import { visibleLines } from "../../door/terminal.ts";
import { exits } from "../exit.ts";

/** How long what was written last waits for its reader. */
const UNREAD_MS = 1000;

/** How long the end may take: 10 s for what is in flight, and the rest for all else. The first process ends its workers after 15 s. */
const MOST_SECONDS = 14;

/** Ends a process that is done: neither what nobody reads keeps it, nor what somebody's own code has left running. */
export function endUnread(): void {
  setTimeout(() => process.exit(), UNREAD_MS).unref();
}

/** Ends a process that has begun to end, also where it is never done: a thread that hangs is waited for in vain. */
export function endInTime(): void {
  setTimeout(() => {
    tellUnended(`It is not done after ${MOST_SECONDS} s, and is not waited for.`);
    process.exit();
  }, MOST_SECONDS * 1000).unref();
}

/** The status is 1 from now on. */
export function tellUnended(why: string): void {
  process.exitCode = exits.failed;
  writeError(`Latchkey did not end as it should. ${why}\n`);
}

/** At once, since the process may end at any moment. */
export function writeError(text: string): void {
  try {
    writeSync(2, visibleLines(text));
  } catch {
    // Nobody reads it.
  }
}
