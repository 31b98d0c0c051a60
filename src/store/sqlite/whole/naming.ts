import { closeSync, linkSync, openSync, renameSync, rmSync } from "node:fs";

/** Gives a file another name. Throws `EEXIST` where something stands there, which stays; nobody ever finds half of the file under it. */
export function nameAnew(path: string, place: string): void {
  if (nameToo(path, place)) rmSync(path);
  else nameInstead(path, place);
}

/** Gives a file a second name, likewise; false where the disk has no links, as FAT and some that are reached over a network. */
export function nameToo(path: string, place: string): boolean {
  try {
    linkSync(path, place);
    return true;
  } catch (error) {
    // Each system has another error for a disk without links. Whatever else is wrong, the other way finds it too.
    if (isTaken(error)) throw error;
    return false;
  }
}

/** Gives a file another name in place of its own, without links: the name is taken by an empty file, which the other replaces at once. */
export function nameInstead(path: string, place: string): void {
  closeSync(openSync(place, "wx", 0o600));
  try {
    renameSync(path, place);
  } catch (error) {
    rmSync(place, { force: true });
    throw error;
  }
}

/** Whether something stood there already. */
export function isTaken(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
