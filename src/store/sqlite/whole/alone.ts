import { existsSync, statSync } from "node:fs";
import { CopyError } from "../../copy.ts";
import { connectReadOnly, playOn, prepare } from "../connection/connection.ts";
import { findCode, isBusy, isStoreFailure, unavailable } from "../connection/errors.ts";
import { DatabaseSync } from "../connection/node-sqlite.ts";
import { sqliteFileProblems } from "../file/reaching.ts";
import { findVersion } from "../version.ts";
import { placeToWrite } from "./place-of-copy.ts";

/** The longest wait for a process that is closing the file, in milliseconds. */
const patienceMs = 500;

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const corrupt = 11;
const cannotOpen = 14;
const notADatabase = 26;

/**
 * Opens a database for writing. Throws if another process has it open. Until the connection is closed, no other process
 * can read or write the file.
 */
export function openAlone(path: string): DatabaseSync {
  requireFile(path);
  placeToWrite(path);
  return keepOthersOut(path);
}

function keepOthersOut(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: patienceMs, returnArrays: true });
  try {
    // If this mode is set before the first access, the transaction locks the whole file. It fails if another connection
    // is open.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
}

/** Reads a file that other processes may have open. */
export async function reading<T>(
  path: string,
  work: (database: DatabaseSync, version: number) => T | Promise<T>,
): Promise<T> {
  requireFile(path);
  const database = connectReadOnly(path);
  try {
    return await work(database, loadVersion(database, path));
  } catch (error) {
    throw openingError(error, path);
  } finally {
    database.close();
  }
}

/**
 * Locks the file, so that no other process can use it. An empty file is locked too, because another process could
 * create a database in it. Returns null if there is no file, or if it is so damaged that no process can be using it.
 */
export function lockFile(place: string): DatabaseSync | null {
  if (!existsSync(place)) return null;
  try {
    return keepOthersOut(place);
  } catch (error) {
    if (error instanceof CopyError && error.code === "in_use") throw error;
    return null;
  }
}

/** Moves the log of a database into its file. Returns false if that is not possible. */
export function mergeLog(database: DatabaseSync): boolean {
  try {
    return prepare(database, "PRAGMA journal_mode = DELETE").get()![0] === "delete";
  } catch {
    return false;
  }
}

/**
 * Throws if the file does not exist, is empty or cannot be read. Otherwise SQLite would create a missing file, create a
 * database in an empty file, or wait until another program writes to a pipe.
 */
export function requireFile(path: string): void {
  if (!existsSync(path)) throw new CopyError("not_latchkey", `There is no file ${path}.`);
  const found = statSync(path);
  if (!found.isFile()) throw new CopyError("not_latchkey", `${path} is not a file. Name the file of a database.`);
  const closed = sqliteFileProblems(path, false);
  if (closed.length > 0) throw new CopyError("refused", closed.join("\n"));
  if (found.size === 0) throw new CopyError("not_latchkey", `${path} is empty, so it is not a database of Latchkey.`);
}

/** Returns the version of Latchkey's tables in a file. Throws `CopyError` if there are none. */
export function loadVersion(database: DatabaseSync, path: string): number {
  try {
    const version = playOn(database, findVersion());
    if (version > 0) return version;
  } catch (error) {
    throw openingError(error, path);
  }
  throw new CopyError("not_latchkey", `${path} is not a database of Latchkey.`);
}

/** Converts an error of SQLite about a file into an error whose message says how to fix it. */
export function openingError(error: unknown, path: string): unknown {
  if (isBusy(error))
    return new CopyError(
      "in_use",
      `${path} is open in another process. Stop the service and all commands on it, and try again.`,
      { cause: error },
    );
  if (((findCode(error) ?? 0) & 0xff) === cannotOpen)
    return new CopyError(
      "refused",
      `${path} cannot be read, because its folder is read-only. Copy it, with ${path}-wal if that exists, and name the copy.`,
      { cause: error },
    );
  return unreadable(error, path) ?? (isStoreFailure(error) ? unavailable(error) : error);
}

/**
 * Returns the `CopyError` for a file that is damaged or not a SQLite database. Returns null for an error with another
 * cause.
 */
export function unreadable(error: unknown, path: string): CopyError | null {
  const found = (findCode(error) ?? 0) & 0xff;
  const cause = { cause: error };
  if (found === notADatabase) return new CopyError("not_latchkey", `${path} is not a SQLite database.`, cause);
  return found === corrupt ? damaged(path, [(error as Error).message], cause) : null;
}

/** Returns the error for a damaged file, with its problems. */
export function damaged(path: string, problems: readonly string[], options?: ErrorOptions): CopyError {
  const words = `${path} is damaged: restore an undamaged backup (latchkey db restore).`;
  return new CopyError("damaged", [words, ...problems].join("\n"), options);
}
