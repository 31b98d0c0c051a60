import { closeSync, linkSync, openSync, renameSync, rmSync } from "node:fs";

/**
 * Renames a file. Throws `EEXIST` if another file has the name, and keeps that one. A reader never finds half of the
 * file.
 */
export function nameAnew(path: string, place: string): void {
  if (nameToo(path, place)) rmSync(path);
  else nameInstead(path, place);
}

/**
 * Gives a file a second name. Throws `EEXIST` if another file has it. Returns false if the disk has no links, for
 * example FAT and some network disks.
 */
export function nameToo(path: string, place: string): boolean {
  try {
    linkSync(path, place);
    return true;
  } catch (error) {
    // Systems report different errors for a disk without links. The fallback will find any other problem.
    if (isTaken(error)) throw error;
    return false;
  }
}

/** Renames a file on a disk without links. An empty file reserves the name first, and the rename replaces it. */
export function nameInstead(path: string, place: string): void {
  closeSync(openSync(place, "wx", 0o600));
  try {
    renameSync(path, place);
  } catch (error) {
    rmSync(place, { force: true });
    throw error;
  }
}

/** Returns true if the name was already taken. */
export function isTaken(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
