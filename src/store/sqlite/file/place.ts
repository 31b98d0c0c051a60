import { statSync, type BigIntStats } from "node:fs";
import type { Observer } from "../../../core/observation.ts";

/** Returns the identity of the file at a path. Returns null if there is none. */
export function fileAt(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : formatFileKey(found);
}

export function formatFileKey({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}

/**
 * The identities of the files of a database: the file and what SQLite keeps next to it. Null if there is no such file.
 */
export type FilesInUse = Readonly<Record<"" | "-wal" | "-shm", string | null>>;

/** Returns the current files. While any connection is open, all three exist and stay the same. */
export function filesAt(path: string): FilesInUse {
  return { "": fileAt(path), "-wal": fileAt(`${path}-wal`), "-shm": fileAt(`${path}-shm`) };
}

/**
 * Throws unless the opened files are still in place. A removed or replaced file still works for the process that has it
 * open, but all its writes are lost when the process ends.
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

/**
 * Returns true if a file next to the database was removed, and not replaced. Then the content of the log can still be
 * moved into the file.
 */
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

/** Returns the size of the write-ahead log next to the file, in bytes. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The interval between checks of the file, in milliseconds. The second check confirms the first, so the operator learns
 * within a second that writes have stopped.
 */
const lookMs = 300;

const largeWALBytes = 256 * 1024 * 1024;

/** The callbacks of the watch. */
export interface Watching {
  readonly observe: Observer;
  /** Throws if the opened file is no longer there. */
  readonly look: () => void;
  /** Called when `look` throws for the first time. */
  readonly isGone: () => void;
  /** Returns the size of the log, in bytes. */
  readonly measureLog?: (path: string) => number;
}

/** Reports when the file is no longer in its place, when it is back, and when the log next to it has become large. */
export function watchFile(path: string, { observe, look, isGone, measureLog = walBytes }: Watching): () => void {
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
    const bytes = measureLog(path);
    // Reported again only after it was small in between.
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
