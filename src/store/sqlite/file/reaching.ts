import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { aBoolean, text } from "../../../core/checking/members.ts";
import { requireArguments } from "../../../core/checking/options.ts";
import { StoreSetupError } from "../../store.ts";

/** The file that a path leads to, whether it is there yet or not: SQLite keeps its log beside that, and not beside a link to it. Throws where none can stand there. */
export function placeOf(path: string): string {
  const place = behindLinks(path);
  const named = place === resolve(path) ? place : `${place}, to which ${path} leads,`;
  const folder = dirname(place);
  if (!isDirectory(folder))
    throw new StoreSetupError([`${named} is to stand in ${folder}, which is no directory. Make it, or name another.`]);
  if (isDirectory(place)) throw new StoreSetupError([`${named} is a directory. Name a file in it.`]);
  if (statOf(place)?.isFile() === false)
    throw new StoreSetupError([
      `${named} is no file that keeps anything (a pipe, a socket or a device). Name another.`,
    ]);
  return place;
}

/**
 * What keeps a SQLite file from being used, in whole sentences: each names the path and the cure. Nothing is opened: closing
 * a file lets go of the locks that SQLite has on it in the same process. `writes`: whether somebody will write into it.
 */
export function sqliteFileProblems(path: string, writes: boolean): readonly string[] {
  requireArguments("sqliteFileProblems", arguments, { path: text, writes: aBoolean });
  try {
    const place = placeOf(path);
    if (!writes) return [whyClosed(place, "read")].filter((each) => each !== null);
    const names = [place, `${place}-wal`, `${place}-shm`].filter((name) => statOf(name) !== undefined);
    // SQLite makes its log beside the file.
    return [dirname(place), ...names].flatMap((name) => whyClosed(name, "read and write") ?? []);
  } catch (error) {
    if (error instanceof StoreSetupError) return error.problems;
    throw error;
  }
}

function behindLinks(path: string): string {
  try {
    const place = follow(resolve(path), mostLinks);
    // What SQLite makes beside it has a longer name.
    lstatSync(`${place}-journal`, { throwIfNoEntry: false });
    return place;
  } catch (error) {
    const why = whyNowhere(path, error);
    throw why === null ? error : new StoreSetupError([why], { cause: error });
  }
}

/** So many follow each other at most, as in Linux itself. */
const mostLinks = 40;

function follow(path: string, left: number): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink && left > 0) return follow(resolve(realpathSync(dirname(path)), readlinkSync(path)), left - 1);
  return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
}

/** Null where it may lead somewhere: the disk could not be read. */
function whyNowhere(path: string, error: unknown): string | null {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ELOOP":
      return `${path} is a link, and those behind it lead in a circle. Let it lead to a file, or name another.`;
    case "ENAMETOOLONG":
      return `${path} is a longer name than the system takes. Name another.`;
    case "ENOTDIR":
      return `${path} is to stand in ${dirname(path)}, which is no directory. Make it, or name another.`;
    case "EACCES":
      return `${user()} may not enter a directory on the way to ${path} (${message}). Give it to them with chown, or start as its owner.`;
    default:
      return null;
  }
}

function user(): string {
  return process.getuid === undefined ? "the user of this process" : `user ${process.getuid()}`;
}

/** Null where this process may do it. */
function whyClosed(name: string, doing: "read" | "read and write"): string | null {
  try {
    accessSync(name, doing === "read" ? constants.R_OK : constants.R_OK | constants.W_OK);
    return null;
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case "ENOENT":
        // Nothing is wrong with a file that has just gone: SQLite removes its log when the last process closes it.
        return null;
      case "EROFS":
        return `${name} is on a disk from which one may only read. Mount it for writing, or name another place.`;
      default:
        return `${user()} may not ${doing} ${name}. ${cureOfClosed(name)}`;
    }
  }
}

function cureOfClosed(name: string): string {
  const found = statOf(name);
  return found?.uid === process.getuid?.()
    ? `It is theirs; open it with: chmod u+${found?.isDirectory() === true ? "rwx" : "rw"} ${name}`
    : "Give it to them with chown, or start as its owner.";
}

function isDirectory(name: string): boolean {
  return statOf(name)?.isDirectory() ?? false;
}

function statOf(name: string): ReturnType<typeof statSync> {
  try {
    return statSync(name, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
