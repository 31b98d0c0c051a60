import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { CopyError } from "../../copy.ts";
import { StoreFull } from "../../store.ts";
import { storeError } from "../errors.ts";
import { isTaken, nameAnew } from "./naming.ts";

/** A file that is being made beside the place where it shall stand, so that nobody ever finds half of it there. */
export interface Draft {
  readonly path: string;
  /** Puts it in its place, on the disk. Refuses where something stands there, unless it is to be replaced. */
  keep(options?: { readonly replace?: boolean }): void;
  /** Removes it; nothing where it was kept. */
  discard(): void;
  /** What goes wrong while it is made, in words that name the cure. */
  told(error: unknown): unknown;
}

/** What SQLite may have beside a file. */
export const companions = ["-wal", "-shm", "-journal"] as const;

export function draftOf(place: string, purpose: string): Draft {
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
    told(error) {
      const read = storeError(error);
      if (!(read instanceof StoreFull)) return error;
      const words = `The disk of ${dirname(place)} is full. Make room on it and begin again: nothing was kept.`;
      return new StoreFull(words, { cause: error });
    },
  };
}

/** Throws where what SQLite makes beside the draft would have too long a name. */
function requireShort(path: string, place: string): void {
  try {
    lstatSync(`${path}-journal`, { throwIfNoEntry: false });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENAMETOOLONG")) throw error;
    const words = `${place} is too long a name: what is made beside it has a longer one. Name another.`;
    throw new CopyError("refused", words, { cause: error });
  }
}

function putInPlace(path: string, place: string): void {
  try {
    nameAnew(path, place);
  } catch (error) {
    if (!isTaken(error)) throw error;
    throw takenMeanwhile(place, error);
  }
}

/** What has come to stand in a place where nothing was. */
export function takenMeanwhile(place: string, cause?: unknown): CopyError {
  return new CopyError("not_empty", `${place} is there already, and stays as it is.`, { cause });
}

/** A new name is on the disk only when its directory is; Windows sees to that itself. */
export function flush(path: string): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
