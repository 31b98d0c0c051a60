import { statSync } from "node:fs";
import type { Observer } from "../../../core/observation.ts";
import { fileAt } from "./kept-open.ts";

/** Which files stand under the names of a database and what SQLite keeps beside it: for each how the system calls it, null where there is none. */
export type FilesInUse = Readonly<Record<"" | "-wal" | "-shm", string | null>>;

/** The files that are there now. While anybody has the database open, all three are, and stay the same. */
export function filesAt(path: string): FilesInUse {
  return { "": fileAt(path), "-wal": fileAt(`${path}-wal`), "-shm": fileAt(`${path}-shm`) };
}

/**
 * Throws unless the files that were opened still stand in their places. One that was removed or replaced goes on working for whoever has it
 * open, and all that is written to it is gone with the process.
 */
export function requireInPlace(path: string, files: FilesInUse): void {
  for (const suffix of ["", "-wal", "-shm"] as const) {
    const found = fileAt(path + suffix);
    if (found === files[suffix]) continue;
    throw new Error(
      `${path}${suffix} was ${found === null ? "removed" : "replaced by another file"} while it was in use, and nothing more is written. ${cures[suffix]}`,
    );
  }
}

/** Whether what stands beside the database was removed, and nobody has made another: then what is in the log can still be moved into the file. */
export function isLogRemoved(path: string, files: FilesInUse): boolean {
  const now = filesAt(path);
  const beside = ["-wal", "-shm"] as const;
  const hasAnother = beside.some((suffix) => now[suffix] !== null && now[suffix] !== files[suffix]);
  return now[""] === files[""] && !hasAnother && beside.some((suffix) => now[suffix] === null);
}

const ofLog =
  "What it held is moved into the database where nobody has made another meanwhile. Stop every process on the database, look at it with latchkey db check, and start again";

const cures: Readonly<Record<keyof FilesInUse, string>> = {
  "": "Put the file back that was there, or stop every process on it, put a backup in its place (latchkey db restore) and start again",
  "-wal": ofLog,
  "-shm": ofLog,
};

/** The size of the write-ahead log beside the file, in bytes. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** How often the file is looked at, in milliseconds: whoever runs it learns within a second that nothing is written any more. */
const lookMs = 500;

const largeWALBytes = 256 * 1024 * 1024;

/** What comes of watching. */
export interface Watching {
  readonly observe: Observer;
  /** Throws where what was opened is not there any more. */
  readonly look: () => void;
  /** Is called when it throws for the first time. */
  readonly isGone: () => void;
  /** How large the log is, in bytes. */
  readonly sizeOf?: (path: string) => number;
}

/** Tells when the file is not in its place any more and when it is there again, and when the log beside it has grown large. */
export function watchFile(path: string, { observe, look, isGone, sizeOf = walBytes }: Watching): () => void {
  let isInPlace = true;
  let isLarge = false;

  function lookAtPlace(): void {
    try {
      look();
      if (!isInPlace) observe({ kind: "notice", level: "info", message: "SQLite: the file is in its place again" });
      isInPlace = true;
    } catch (error) {
      if (isInPlace) {
        observe({ kind: "notice", level: "error", message: "SQLite: the file is gone", error });
        isGone();
      }
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
