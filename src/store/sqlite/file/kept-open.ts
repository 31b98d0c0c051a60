import { closeSync, fstatSync, openSync, readSync, statSync, type BigIntStats } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** A file of a database, read past SQLite. */
export interface KeptOpen {
  /** Its descriptor, the same in all threads. */
  readonly descriptor: number;
  /** What stands there; shorter where the file ends before. */
  read(from: number, bytes: number): Buffer;
  /** Puts it into the buffer, and gives how many bytes were there. */
  readInto(buffer: Buffer, from: number): number;
  size(): number;
}

/** Node closes what a thread has open when that ends, and the locks of all others in the process would go with it (`keepOpen`). */
export const mayKeepOpen = isMainThread;

/** Descriptors by how the system calls their files. */
const descriptors = new Map<string, number>();

/**
 * Opens the file, once a process. Whoever closes a descriptor of a file ends all locks that the process has on it, those of SQLite too
 * (sqlite.org/howtocorrupt.html, 2.2): so it stays open until `letGo`.
 */
export function keepOpen(path: string): KeptOpen {
  const key = fileAt(path)!;
  // To be written, as SQLite opens it: where a container has it in its image, another file is read until somebody does.
  const descriptor = descriptors.get(key) ?? openSync(path, "r+");
  descriptors.set(key, descriptor);
  return openedAs(descriptor);
}

/** A file that some thread of the process keeps open. */
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

/** Whether this thread has that file (`fileAt`) under the number. */
export function isOpenAs(descriptor: number, key: string | null): boolean {
  try {
    return keyOf(fstatSync(descriptor, { bigint: true })) === key;
  } catch {
    return false;
  }
}

/** Closes what is kept of these files, unless somebody has the database open: the last to close it takes the index of its log away. */
export function letGo(path: string, files: Iterable<string | null>): void {
  if (fileAt(`${path}-shm`) !== null) return;
  for (const key of files) {
    const descriptor = key === null ? undefined : descriptors.get(key);
    if (descriptor === undefined) continue;
    descriptors.delete(key!);
    closeSync(descriptor);
  }
}

/** How the system calls the file that stands there; null where there is none. */
export function fileAt(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : keyOf(found);
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev} ${ino}`;
}
