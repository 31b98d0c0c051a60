import { accessSync, constants, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { codeOf } from "./error.ts";

/**
 * What keeps a SQLite file from being used, in whole sentences: each names the path and the cure. Nothing is opened: closing
 * a file lets go of the locks that SQLite has on it in the same process.
 */
export function checkDatabaseFile(label: string, named: string): readonly string[] {
  const file = statOf(named) === undefined ? named : realpathSync(named);
  const folder = path.dirname(file);
  if (!isDirectory(folder)) {
    return [`${label} is to stand in ${folder}, which is no directory. Make it, or name another.`];
  }
  if (isDirectory(file)) return [`${label} names ${file}, which is a directory. Name a file in it.`];
  const names = [file, `${file}-wal`, `${file}-shm`].filter((name) => statOf(name) !== undefined);
  // SQLite makes its log beside the file.
  const closed = [folder, ...names].filter((name) => !mayWrite(name));
  const user = process.getuid === undefined ? "the user of this process" : `user ${process.getuid()}`;
  return closed.map(
    (name) => `${label}: ${user} may not read and write ${name}. Give it to them with chown, or start as its owner.`,
  );
}

function mayWrite(name: string): boolean {
  try {
    accessSync(name, constants.R_OK | constants.W_OK);
    return true;
  } catch (error) {
    // Of a file that has just gone nothing is wrong: SQLite removes its log when the last process closes it.
    return codeOf(error) === "ENOENT";
  }
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
