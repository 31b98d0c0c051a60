import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { aBoolean, text } from "../../../core/checking/members.ts";
import { requireArguments } from "../../../core/checking/options.ts";
import { StoreSetupError } from "../../store.ts";

/**
 * Returns the path of the file that a path leads to through links, even if the file does not exist yet. SQLite keeps
 * its log next to that file, not next to a link. Throws `StoreSetupError` if no database file can be at this path.
 */
export function requirePlace(path: string): string {
  const place = resolveLinks(path);
  const named = place === resolve(path) ? place : `${place}, to which ${path} leads,`;
  const folder = dirname(place);
  if (!isDirectory(folder))
    throw new StoreSetupError([
      `${named} cannot be used, because ${folder} is not a directory. Create it, or name another file.`,
    ]);
  if (isDirectory(place)) throw new StoreSetupError([`${named} is a directory. Name a file in it.`]);
  if (findStat(place)?.isFile() === false)
    throw new StoreSetupError([`${named} is a pipe, a socket or a device. Name a regular file.`]);
  return place;
}

/**
 * Returns the reasons why a SQLite file cannot be used, as sentences with the path and the fix. Opens nothing, because
 * closing a file releases the locks that SQLite has on it in the same process. `writes` is true if the file will be
 * written.
 */
export function sqliteFileProblems(path: string, writes: boolean): readonly string[] {
  requireArguments("sqliteFileProblems", arguments, { path: text, writes: aBoolean });
  try {
    const place = requirePlace(path);
    if (!writes) return [explainNoAccess(place, "read")].filter((each) => each !== null);
    const names = [place, `${place}-wal`, `${place}-shm`].filter((name) => findStat(name) !== undefined);
    // SQLite creates its log next to the file.
    return [dirname(place), ...names].flatMap((name) => explainNoAccess(name, "read and write") ?? []);
  } catch (error) {
    if (error instanceof StoreSetupError) return error.problems;
    throw error;
  }
}

function resolveLinks(path: string): string {
  try {
    const place = follow(resolve(path), maxLinks);
    // SQLite adds suffixes to this name for its other files. This call throws ENAMETOOLONG if the longest of these
    // names is too long.
    lstatSync(`${place}-journal`, { throwIfNoEntry: false });
    return place;
  } catch (error) {
    const why = explainBadPath(path, error);
    throw why === null ? error : new StoreSetupError([why], { cause: error });
  }
}

/** The maximum number of links in a chain, as in Linux itself. */
const maxLinks = 40;

function follow(path: string, left: number): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink && left > 0) return follow(resolve(realpathSync(dirname(path)), readlinkSync(path)), left - 1);
  return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
}

/**
 * Returns the reason why a path leads to no file. Returns null for another error, for example if the disk cannot be
 * read.
 */
function explainBadPath(path: string, error: unknown): string | null {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ELOOP":
      return `${path} is a symbolic link that leads in a circle. Link it to a file, or name another file.`;
    case "ENAMETOOLONG":
      return `${path} is longer than the system allows. Name another file.`;
    case "ENOTDIR":
      return `${path} cannot be used, because ${dirname(path)} is not a directory. Create it, or name another file.`;
    case "EACCES":
      return `${user()} may not enter a directory on the way to ${path} (${message}). Make this user its owner with chown, or start as its owner.`;
    default:
      return null;
  }
}

function user(): string {
  return process.getuid === undefined ? "the user of this process" : `user ${process.getuid()}`;
}

/** Returns the reason why this process may not access a file. Returns null if it may, or if the file does not exist. */
function explainNoAccess(name: string, doing: "read" | "read and write"): string | null {
  try {
    accessSync(name, doing === "read" ? constants.R_OK : constants.R_OK | constants.W_OK);
    return null;
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case "ENOENT":
        // The file was deleted since it was listed. SQLite deletes its log when the last process closes the database.
        return null;
      case "EROFS":
        return `${name} is on a read-only disk. Mount it for writing, or name another file.`;
      default:
        return `${user()} may not ${doing} ${name}. ${fixAccess(name)}`;
    }
  }
}

function fixAccess(name: string): string {
  const found = findStat(name);
  return found?.uid === process.getuid?.()
    ? `This user owns it. Allow it with: chmod u+${found?.isDirectory() === true ? "rwx" : "rw"} ${name}`
    : "Make this user its owner with chown, or start as its owner.";
}

function isDirectory(name: string): boolean {
  return findStat(name)?.isDirectory() ?? false;
}

function findStat(name: string): ReturnType<typeof statSync> {
  try {
    return statSync(name, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
