import { existsSync, statSync } from "node:fs";
import { CopyError } from "../../copy.ts";
import { connectReadOnly, playOn, prepare } from "../connection.ts";
import { codeOf, isBusy, isStoreFailure, unavailable } from "../errors.ts";
import { sqliteFileProblems } from "../file/reaching.ts";
import { DatabaseSync } from "../node-sqlite.ts";
import { findVersion } from "../version.ts";
import { placeToWrite } from "./place-of-copy.ts";

/** How long to wait for somebody who is just closing it, in milliseconds. */
const patienceMs = 500;

/** More result codes (sqlite.org/rescode.html), without their extensions. */
const corrupt = 11;
const cannotOpen = 14;
const notADatabase = 26;

/** Opens a database that this process may write and nobody else has open, and keeps everybody out until it is closed: readers too. */
export function openAlone(path: string): DatabaseSync {
  requireFile(path);
  placeToWrite(path);
  return keepOthersOut(path);
}

function keepOthersOut(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: patienceMs, returnArrays: true });
  try {
    // Set before the first access, it takes the whole file, which a connection of anybody else prevents.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
}

/** Reads a file that others may have open. */
export async function reading<T>(
  path: string,
  work: (database: DatabaseSync, version: number) => T | Promise<T>,
): Promise<T> {
  requireFile(path);
  const database = connectReadOnly(path);
  try {
    return await work(database, versionOf(database, path));
  } catch (error) {
    throw openingError(error, path);
  } finally {
    database.close();
  }
}

/** Keeps everybody out of the file, also out of an empty one, in which a database may begin; null where there is none, or one so damaged that nobody can be using it. */
export function hold(place: string): DatabaseSync | null {
  if (!existsSync(place)) return null;
  try {
    return keepOthersOut(place);
  } catch (error) {
    if (error instanceof CopyError && error.code === "in_use") throw error;
    return null;
  }
}

/** Puts all of a database into its one file; false where that cannot be. */
export function foldLog(database: DatabaseSync): boolean {
  try {
    return prepare(database, "PRAGMA journal_mode = DELETE").get()![0] === "delete";
  } catch {
    return false;
  }
}

/** Throws unless there is a file with something in it that this process may read: SQLite would make one, wait for who writes into a pipe, or begin a database in an empty one. */
export function requireFile(path: string): void {
  if (!existsSync(path)) throw new CopyError("not_latchkey", `There is no file ${path}.`);
  const found = statSync(path);
  if (!found.isFile()) throw new CopyError("not_latchkey", `${path} is no file. Name the file of a database.`);
  const closed = sqliteFileProblems(path, false);
  if (closed.length > 0) throw new CopyError("refused", closed.join("\n"));
  if (found.size === 0) throw new CopyError("not_latchkey", `${path} is empty, and no database of Latchkey.`);
}

/** The version of the tables in a file. Throws where they are none of ours. */
export function versionOf(database: DatabaseSync, path: string): number {
  try {
    const version = playOn(database, findVersion());
    if (version > 0) return version;
  } catch (error) {
    throw openingError(error, path);
  }
  throw new CopyError("not_latchkey", `${path} is no database of Latchkey.`);
}

/** What SQLite says of a file, for who can do something about it. */
export function openingError(error: unknown, path: string): unknown {
  if (isBusy(error))
    return new CopyError(
      "in_use",
      `${path} is open in another process. Stop the service and every command that works on it, and try again.`,
      { cause: error },
    );
  if (((codeOf(error) ?? 0) & 0xff) === cannotOpen)
    return new CopyError(
      "refused",
      `${path} cannot be read where nothing can be written beside it. Copy it, with ${path}-wal where that is there, and name the copy.`,
      { cause: error },
    );
  return unreadable(error, path) ?? (isStoreFailure(error) ? unavailable(error) : error);
}

/** What SQLite says of a file that is none of its own, or damaged; null where it says something else. */
export function unreadable(error: unknown, path: string): CopyError | null {
  const found = (codeOf(error) ?? 0) & 0xff;
  const cause = { cause: error };
  if (found === notADatabase) return new CopyError("not_latchkey", `${path} is no SQLite database.`, cause);
  return found === corrupt ? damaged(path, [(error as Error).message], cause) : null;
}

/** Says that a file is damaged, and how. */
export function damaged(path: string, problems: readonly string[], options?: ErrorOptions): CopyError {
  const words = `${path} is damaged: use a backup that is whole (latchkey db restore).`;
  return new CopyError("damaged", [words, ...problems].join("\n"), options);
}
