import { visibleLines } from "./visible.ts";

/** Writes to standard error. Control characters in the text do not affect the terminal. */
export function writeError(text: string): void {
  process.stderr.write(visibleLines(text));
}
