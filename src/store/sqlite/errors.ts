import { StoreFull, StoreUnavailable } from "../store.ts";

/** The result codes that are told apart (sqlite.org/rescode.html). */
export const code = {
  error: 1,
  tooLarge: 18,
  check: 275,
  foreignKey: 787,
  notNull: 1299,
  primaryKey: 1555,
  trigger: 1811,
  unique: 2067,
  rowid: 2579,
  datatype: 3091,
} as const;

/** The extended result code of an error from SQLite; null for any other. */
export function codeOf(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode : null;
}

/** The database was held by another connection for longer than the time-out. */
export function isBusy(error: unknown): boolean {
  const found = codeOf(error);
  return found !== null && (found & 0xff) === 5;
}

/** There is no room on the disk: SQLITE_FULL, and what the system says of a file that cannot be made. Nothing was written then. */
function isFull(error: unknown): boolean {
  const found = codeOf(error);
  if (found !== null) return (found & 0xff) === 13;
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

/**
 * The store failed, and not the one statement: the disk, the file, a lock, memory. What the statement itself may be
 * blamed for are ERROR, TOOBIG, CONSTRAINT, MISMATCH and RANGE.
 */
export function isStoreFailure(error: unknown): boolean {
  const found = codeOf(error);
  return found !== null && ![1, 18, 19, 20, 25].includes(found & 0xff);
}

/** The error as the store's caller sees it: faults stay what they are. */
export function storeError(error: unknown): unknown {
  return isStoreFailure(error) || isClosed(error) || isOfSystem(error) ? unavailable(error) : error;
}

/** A file was not read or opened, past SQLite. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** A connection that was closed meanwhile, and its statements, are used no more: node:sqlite says so with this code. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
}

/** What SQLite's own words do not say. */
const meanings: Readonly<Record<number, string>> = {
  5: "another process has kept it locked for longer than is waited for: look for one that stands still within a write (fuser on the file), and end it",
  14: "the file, its log or its folder cannot be opened: look at their rights, and at how many descriptors a process may have (ulimit -n)",
  // SQLITE_CORRUPT is also what becomes of EIO from a read.
  11: "the disk cannot be read or the file is damaged: look at it with latchkey db check, and where it is damaged put a backup in its place (latchkey db restore)",
  26: "the file was overwritten while it was in use: stop every process on it and put a backup in its place (latchkey db restore)",
  // SQLITE_IOERR_SHMSIZE: the commit may be in the log, so this is not told as full.
  4874: "the index of the log cannot grow, the disk may be full",
};

/** The store does not answer, and why: with SQLite's code, which tells one I/O error from another. */
export function unavailable(cause: unknown): StoreUnavailable {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (isFull(cause))
    return new StoreFull(`SQLite: the disk is full. Make room where the database is (${message})`, { cause });
  const found = codeOf(cause);
  const meaning = found === null ? undefined : meanings[found];
  const reason = meaning === undefined ? message : `${meaning} (${message})`;
  return new StoreUnavailable(`SQLite: ${reason}${found === null ? "" : `, code ${found}`}`, { cause });
}

/** An error as it travels between threads. */
export interface Failure {
  readonly message: string;
  /** SQLite's extended result code; null where the error is not from SQLite. */
  readonly errcode: number | null;
}

/** What may travel of an error. */
export function failureOf(error: unknown): Failure {
  return { message: error instanceof Error ? error.message : String(error), errcode: codeOf(error) };
}

/** The error that has travelled. */
export function errorOf({ message, errcode }: Failure): Error {
  return Object.assign(new Error(message), errcode === null ? {} : { errcode });
}
