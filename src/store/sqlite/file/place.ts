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
 * The identities of the database file and of the files that SQLite keeps next to it. Null if a file does not exist.
 */
export type FilesInUse = Readonly<Record<"" | "-wal" | "-shm", string | null>>;

/**
 * Returns the identities of the database file and of its two other files. While any connection is open, all three exist
 * and do not change.
 */
export function filesAt(path: string): FilesInUse {
  return { "": fileAt(path), "-wal": fileAt(`${path}-wal`), "-shm": fileAt(`${path}-shm`) };
}

/**
 * Throws unless the opened files are still at their paths. A process can go on writing to a file that was removed or
 * replaced, but these writes are lost when it exits.
 */
export function requireInPlace(path: string, files: FilesInUse): void {
  for (const suffix of ["", "-wal", "-shm"] as const) {
    const found = fileAt(path + suffix);
    if (found === files[suffix]) continue;
    throw new Error(
      `${path}${suffix} was ${found === null ? "removed" : "replaced by another file"} while it was in use. All writes are refused. ${fixes[suffix]}`,
    );
  }
}

/**
 * Returns true if the log or its index was removed and not replaced. A connection that still has the log open can then
 * move its content into the database file.
 */
export function isLogRemoved(path: string, files: FilesInUse): boolean {
  const now = filesAt(path);
  const suffixes = ["-wal", "-shm"] as const;
  const hasAnother = suffixes.some((suffix) => now[suffix] !== null && now[suffix] !== files[suffix]);
  return now[""] === files[""] && !hasAnother && suffixes.some((suffix) => now[suffix] === null);
}

const fixOfLog =
  "The changes in the log are moved into the database, unless another program has created a new log. Stop every process on the database, check it with latchkey db check, and start again";

const fixes: Readonly<Record<keyof FilesInUse, string>> = {
  "": "Move the original file back. If it is lost, stop every process on it, put a backup in its place (latchkey db restore) and start again",
  "-wal": fixOfLog,
  "-shm": fixOfLog,
};

/** Returns the size of the write-ahead log next to the file, in bytes. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The interval between checks of the file, in milliseconds. An overwritten file is reported only after a second check,
 * and the operator must see the report within a second.
 */
const checkIntervalMs = 300;

const largeWALBytes = 256 * 1024 * 1024;

/** The options of `watchFile`. */
export interface Watching {
  readonly observe: Observer;
  /** Throws if the opened file is no longer there, or if it was overwritten. */
  readonly look: () => void;
  /** Called when `look` throws and did not throw at the check before. */
  readonly onGone: () => void;
  /** Returns the size of the log, in bytes. */
  readonly measureLog?: (path: string) => number;
}

/**
 * Reports when the file cannot be used any more, when it can be used again, and when its log has become large. Returns
 * a function that stops the watch.
 */
export function watchFile(path: string, { observe, look, onGone, measureLog = walBytes }: Watching): () => void {
  let isInPlace = true;
  let isLarge = false;

  function checkPlace(): void {
    try {
      look();
      if (!isInPlace)
        observe({ kind: "notice", level: "info", message: "SQLite: the database file can be used again" });
      isInPlace = true;
    } catch (error) {
      if (isInPlace) {
        observe({
          kind: "notice",
          level: "error",
          message: "SQLite: the database file cannot be used any more",
          error,
        });
        onGone();
      }
      isInPlace = false;
    }
  }

  function checkLogSize(): void {
    const bytes = measureLog(path);
    // A large log is reported once. It is reported again only after it was smaller than half the limit.
    if (bytes > largeWALBytes && !isLarge) observe({ kind: "notice", level: "error", message: largeText(path, bytes) });
    isLarge = bytes > (isLarge ? largeWALBytes / 2 : largeWALBytes);
  }

  const timer = setInterval(() => {
    checkPlace();
    checkLogSize();
  }, checkIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

function largeText(path: string, bytes: number): string {
  return (
    `SQLite: the WAL (${path}-wal) has ${Math.round(bytes / 1024 / 1024)} MB. A program has kept a read transaction open for a long time, ` +
    "and the WAL cannot be moved into the file until it ends. Look for other programs that have the file open, and end them"
  );
}
