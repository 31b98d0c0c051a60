import { closeSync, fstatSync, openSync, readSync, statSync, type BigIntStats } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** A file of a database, read without SQLite. */
export interface KeptOpen {
  /** The descriptor, the same in all threads. */
  readonly descriptor: number;
  /** Reads bytes. Returns fewer at the end of the file. */
  read(from: number, bytes: number): Buffer;
  /** Reads into the buffer. Returns the number of bytes. */
  readInto(buffer: Buffer, from: number): number;
  size(): number;
}

/**
 * False in other threads: Node closes the files of a thread when it ends, and this would release the locks of the whole
 * process (`keepOpen`).
 */
export const mayKeepOpen = isMainThread;

/** Descriptors by the identity of their files. */
const descriptors = new Map<string, number>();

/**
 * Opens the file, once per process. Closing any descriptor of a file releases all locks of the process on it, including
 * those of SQLite (sqlite.org/howtocorrupt.html, 2.2). So it stays open until `letGo`.
 */
export function keepOpen(path: string): KeptOpen {
  const key = fileAt(path)!;
  // Opened for writing, like SQLite does. If the file is in the image of a container, a read-only descriptor leads to
  // another file after the first write.
  const descriptor = descriptors.get(key) ?? openSync(path, "r+");
  descriptors.set(key, descriptor);
  return openedAs(descriptor);
}

/** Returns a file that a thread of the process keeps open. */
export function openedAs(descriptor: number): KeptOpen {
  const readInto = (buffer: Buffer, from: number): number => readSync(descriptor, buffer, 0, buffer.length, from);
  return {
    descriptor,
    read(from, bytes) {
      const buffer = Buffer.alloc(bytes);
      return buffer.subarray(0, readInto(buffer, from));
    },
    readInto,
    size: () => fstatSync(descriptor).size,
  };
}

/** Returns true if the descriptor leads to that file (`fileAt`) in this thread. */
export function isOpenAs(descriptor: number, key: string | null): boolean {
  try {
    return keyOf(fstatSync(descriptor, { bigint: true })) === key;
  } catch {
    return false;
  }
}

/**
 * Closes the descriptors of these files, unless the database is still open. The last connection to close deletes the
 * index of the log.
 */
export function letGo(path: string, files: Iterable<string | null>): void {
  if (fileAt(`${path}-shm`) !== null) return;
  for (const key of files) {
    const descriptor = key === null ? undefined : descriptors.get(key);
    if (descriptor === undefined) continue;
    descriptors.delete(key!);
    closeSync(descriptor);
  }
}

/** Returns the identity of the file at a path. Returns null if there is none. */
export function fileAt(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : keyOf(found);
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}
