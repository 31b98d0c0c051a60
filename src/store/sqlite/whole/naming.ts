import { closeSync, linkSync, openSync, renameSync, rmSync } from "node:fs";

/**
 * Renames a file. Throws `EEXIST` if another file has the new name, and leaves that file unchanged. A reader never
 * finds an incomplete file.
 */
export function renameNew(path: string, place: string): void {
  if (addHardLink(path, place)) rmSync(path);
  else nameInstead(path, place);
}

/**
 * Gives a file a second name, as a hard link. Throws `EEXIST` if another file has this name. Returns false if the disk
 * does not support hard links, for example FAT and some network disks.
 */
export function addHardLink(path: string, place: string): boolean {
  try {
    linkSync(path, place);
    return true;
  } catch (error) {
    // Systems report different errors for a disk without hard links. If there is another problem, `nameInstead` reports
    // it.
    if (isTaken(error)) throw error;
    return false;
  }
}

/**
 * Renames a file on a disk without hard links. First creates an empty file to reserve the name. The rename then
 * replaces the empty file.
 */
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
