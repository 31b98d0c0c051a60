import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { CopyError } from "../../copy.ts";
import { StoreFull } from "../../store.ts";
import { storeError } from "../connection/errors.ts";
import { isTaken, renameNew } from "./naming.ts";

/**
 * A new file with a temporary name in the folder of its final path. It gets its final name when it is complete, so that
 * no reader finds an incomplete file there.
 */
export interface Draft {
  readonly path: string;
  /**
   * Renames the file to its final path and syncs the folder. If `replace` is false (the default), throws if another
   * file exists there.
   */
  keep(options?: { readonly replace?: boolean }): void;
  /** Deletes the draft. Does nothing after `keep`. */
  discard(): void;
  /** If the disk is full, returns an error whose message says so and how to fix it. Returns another error unchanged. */
  convertError(error: unknown): unknown;
}

/** The suffixes of the files that SQLite keeps next to a database. */
export const companions = ["-wal", "-shm", "-journal"] as const;

export function createDraft(place: string, purpose: string): Draft {
  const path = `${place}.${purpose}-${randomBytes(6).toString("hex")}`;
  requireShort(path, place);
  return {
    path,
    keep({ replace = false } = {}) {
      flush(path);
      if (replace) renameSync(path, place);
      else putInPlace(path, place);
      flush(dirname(place));
    },
    discard() {
      for (const suffix of ["", ...companions]) rmSync(path + suffix, { force: true });
    },
    convertError(error) {
      const read = storeError(error);
      if (!(read instanceof StoreFull)) return error;
      const words = `The disk of ${dirname(place)} is full. Free space on it and try again: nothing was kept.`;
      return new StoreFull(words, { cause: error });
    },
  };
}

/** Throws if the names of SQLite's files next to the draft would be too long. */
function requireShort(path: string, place: string): void {
  try {
    lstatSync(`${path}-journal`, { throwIfNoEntry: false });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENAMETOOLONG")) throw error;
    const words = `${place} is too long a name, because files next to it get longer names. Name another.`;
    throw new CopyError("refused", words, { cause: error });
  }
}

function putInPlace(path: string, place: string): void {
  try {
    renameNew(path, place);
  } catch (error) {
    if (!isTaken(error)) throw error;
    throw takenMeanwhile(place, error);
  }
}

/** Returns the error for a path at which another process has created a file in the meantime. */
export function takenMeanwhile(place: string, cause?: unknown): CopyError {
  return new CopyError("not_empty", `${place} exists already, and was not changed.`, { cause });
}

/**
 * Syncs a file or a directory. A new name is safely on the disk only after its directory is synced. Does nothing on
 * Windows, which does that itself.
 */
export function flush(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
