import { visibleLines } from "./visible.ts";

/** Writes on standard error. Nothing in the text steers a terminal. */
export function writeError(text: string): void {
  process.stderr.write(visibleLines(text));
}
