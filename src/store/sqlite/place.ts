import { statSync } from "node:fs";

/** Which file stands under a name, as text; null where there is none. */
export function fileAt(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

/**
 * Throws unless the file that was opened still stands in its place. One that was removed or replaced goes on working for whoever has it
 * open, and all that is written to it is gone with the process.
 */
export function requireInPlace(path: string, file: string): void {
  const found = fileAt(path);
  if (found === file) return;
  throw new Error(
    `${path} was ${found === null ? "removed" : "replaced by another file"} while it was in use, and nothing more is written. ` +
      "Put the file back that was there, or stop every process on it, put a backup in its place (latchkey db restore) and start again",
  );
}
