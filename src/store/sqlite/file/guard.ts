import { statSync } from "node:fs";
import { StoreSetupError } from "../../store.ts";
import { prepareLogSizes } from "../connection/connection.ts";
import type { DatabaseSync } from "../connection/node-sqlite.ts";
import { readContent, type Content } from "./content.ts";
import { startOfFile } from "./descriptor.ts";
import { createLogCheck } from "./log.ts";
import { fileAt, requireInPlace, walBytes, type FilesInUse } from "./place.ts";

/** An open database, as the threads of the store describe it to each other. */
export interface OpenedDatabase {
  readonly path: string;
  /** The files of the database (`filesAt`). */
  readonly files: FilesInUse;
  /** The state of the file when it was opened. Null if it could not be read. */
  readonly content: Content | null;
}

/** Checks that a file is still the opened one, and that only SQLite has written to it. */
export interface Guard {
  /**
   * Throws if the opened file is no longer at its path, or if another program has overwritten it. After it has found an
   * overwritten file, it throws at every later call. The connection must not be in a transaction.
   */
  look(): void;
  /** The error if the file was overwritten. Null otherwise. */
  readonly found: Error | null;
  /**
   * True if the file was overwritten, or if a first check has found this and a second one has not confirmed it yet. A
   * checkpoint must not move the log into such a file.
   */
  readonly isSuspect: boolean;
  /** The last known state of the file. */
  readonly content: Content | null;
}

/**
 * How long a wrong state must last before it is reported, in milliseconds. A running checkpoint changes the file all
 * the time.
 */
const confirmAfterMs = 200;

/**
 * Creates the guard. `database` is a read-only connection. Two `stat` calls show whether the file and its log have
 * changed. The guard reads the file or the log only after a change.
 */
export function createGuard(
  { path, files }: Pick<OpenedDatabase, "path" | "files">,
  database: DatabaseSync,
  now: () => number = () => performance.now(),
): Guard {
  const sizes = prepareLogSizes(database);
  const findForeignLog = createLogCheck(path);
  let [seenFile, seenLog] = ["", ""];
  let content: Content | null = null;
  let suspect: { readonly state: string; readonly since: number } | null = null;
  let found: Error | null = null;

  function lookAtLog(): Error | null {
    const state = readFileState(`${path}-wal`);
    if (state === seenLog) return null;
    // Checks only some pages, because this thread answers requests. The writer thread checks every page.
    const why = findForeignLog(sizes, "some");
    if (why === null) seenLog = state;
    return why;
  }

  function lookAtFile(): Error | null {
    const state = readFileState(path);
    if (state === seenFile) return null;
    const read = readContent(path, content);
    if (typeof read !== "string") {
      [content, seenFile, suspect] = [read, state, null];
      return null;
    }
    if (suspect?.state !== state) suspect = { state, since: now() };
    return now() - suspect.since < confirmAfterMs ? null : new Error(overwritten(path, read));
  }

  return {
    look() {
      if (found !== null) throw found;
      requireInPlace(path, files);
      // The log is checked first. If it was overwritten, the state of the database file does not matter.
      found = nullIfUnreadable(lookAtLog) ?? nullIfUnreadable(lookAtFile);
      if (found !== null) throw found;
    },
    get found() {
      return found;
    },
    get isSuspect() {
      return found !== null || suspect !== null;
    },
    get content() {
      return content;
    },
  };
}

/** Returns null if the disk cannot be read. The state of the file is then unknown until a later check. */
function nullIfUnreadable<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Returns a text that changes with every write to the file. */
function readFileState(path: string): string {
  const { ctimeNs, size } = statSync(path, { bigint: true });
  return `${ctimeNs} ${size}`;
}

/** The offset of the byte in the header of a database file that shows whether the database uses a log. */
const journalModeOffset = 18;
const walMode = 2;
const HEADER_OF_LOG_BYTES = 32;

/**
 * Throws if the log next to a file belongs to a previous file at this path. At the first access, SQLite would mix both,
 * or delete the log if the file is empty. The header of a file shows whether the file uses a log. Copies by
 * `latchkey db backup` and `VACUUM INTO` do not use one.
 */
export function requireOwnLog(path: string): void {
  if (walBytes(path) <= HEADER_OF_LOG_BYTES || fileAt(path) === null) return;
  const start = nullIfUnreadable(() => startOfFile(path, journalModeOffset + 1));
  // A file that is not a SQLite database is reported later, when it is read.
  if (start === null || (start.length > 0 && (!isSQLite(start) || start[journalModeOffset] === walMode))) return;
  throw new StoreSetupError([
    `${path} was overwritten, and ${path}-wal holds changes of the previous file. SQLite would mix both. ` +
      `Put a backup in its place with latchkey db restore. To use the new file instead, move ${path}-wal away first.`,
  ]);
}

const magic = "SQLite format 3\0";

function isSQLite(start: Buffer): boolean {
  return start.toString("latin1", 0, magic.length) === magic;
}

function overwritten(path: string, why: string): string {
  return (
    `${path} was overwritten while it was in use (${why}). All reads and writes are refused. ` +
    "Stop every process on it, put a backup in its place with latchkey db restore, not with a plain copy, and start again"
  );
}
