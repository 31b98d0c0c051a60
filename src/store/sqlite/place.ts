import { statSync } from "node:fs";
import type { Observer } from "../../observation.ts";

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

/** The size of the write-ahead log beside the file, in bytes. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** How often the file is looked at, in milliseconds: whoever runs it learns within a second that nothing is written any more. */
const lookMs = 500;

const largeWALBytes = 256 * 1024 * 1024;

/** Tells when the file is not in its place any more and when it is there again, and when the log beside it has grown large. */
export function watchFile(path: string, file: string, observe: Observer, sizeOf = walBytes): () => void {
  let isInPlace = true;
  let isLarge = false;

  function lookAtPlace(): void {
    try {
      requireInPlace(path, file);
      if (!isInPlace) observe({ kind: "notice", level: "info", message: "SQLite: the file is in its place again" });
      isInPlace = true;
    } catch (error) {
      if (isInPlace) observe({ kind: "notice", level: "error", message: "SQLite: the file is gone", error });
      isInPlace = false;
    }
  }

  function lookAtLog(): void {
    const bytes = sizeOf(path);
    // Told anew only when it was small in between.
    if (bytes > largeWALBytes && !isLarge) observe({ kind: "notice", level: "error", message: largeText(path, bytes) });
    isLarge = bytes > (isLarge ? largeWALBytes / 2 : largeWALBytes);
  }

  const timer = setInterval(() => {
    lookAtPlace();
    lookAtLog();
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

function largeText(path: string, bytes: number): string {
  return (
    `SQLite: the WAL (${path}-wal) has ${Math.round(bytes / 1024 / 1024)} MB. Somebody has been reading one state of the file for long, ` +
    "and until they end nothing of it can be moved into the file: look for other programs that have it open"
  );
}
