import { StoreFull, StoreUnavailable } from "../../store.ts";

/** The result codes that this module distinguishes (sqlite.org/rescode.html). */
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

/** Returns the extended result code of an error from SQLite. Returns null if the error is not from SQLite. */
export function findCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode : null;
}

/** Returns true if another connection had the database locked for longer than the time-out. */
export function isBusy(error: unknown): boolean {
  const found = findCode(error);
  return found !== null && (found & 0xff) === 5;
}

/**
 * Returns true if there is no space on the disk: SQLITE_FULL, or the error of the system for a file that cannot be
 * created. In both cases nothing was written.
 */
function isFull(error: unknown): boolean {
  const found = findCode(error);
  if (found !== null) return (found & 0xff) === 13;
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

/**
 * Returns true if the store failed: the disk, the file, a lock or memory. Returns false for the codes that only the
 * statement causes: ERROR, TOOBIG, CONSTRAINT, MISMATCH and RANGE.
 */
export function isStoreFailure(error: unknown): boolean {
  const found = findCode(error);
  return found !== null && ![1, 18, 19, 20, 25].includes(found & 0xff);
}

/**
 * Converts an error of SQLite or of the system into the error that the store reports. Returns faults of the program
 * unchanged.
 */
export function storeError(error: unknown): unknown {
  return isStoreFailure(error) || isClosed(error) || isOfSystem(error) ? unavailable(error) : error;
}

/** Returns true for an error of a system call that Node reports. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/**
 * Returns true if the connection or its statement was closed in the meantime. node:sqlite reports both with the same
 * code.
 */
function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
}

/** Explanations that SQLite's messages do not contain. */
const meanings: Readonly<Record<number, string>> = {
  5: "another process has locked the file for too long: look for one that hangs in a write (fuser on the file), and end it",
  14: "the file, its log or its folder cannot be opened: check their permissions, and the limit of open files (ulimit -n)",
  // SQLite also reports EIO of a read as SQLITE_CORRUPT.
  11: "the disk cannot be read, or the file is damaged: run latchkey db check, and restore a backup if it is damaged (latchkey db restore)",
  26: "the file was overwritten while it was in use: stop all processes that use it, and restore a backup (latchkey db restore)",
  // SQLITE_IOERR_SHMSIZE. It is not reported as a full disk, because the commit may already be in the log.
  4874: "the index of the log cannot grow, the disk may be full",
};

/**
 * Returns the error for a store that failed, with the reason and SQLite's extended code. The code distinguishes the I/O
 * errors.
 */
export function unavailable(cause: unknown): StoreUnavailable {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (isFull(cause)) return new StoreFull(`SQLite: the disk is full. Free space on its disk (${message})`, { cause });
  const found = findCode(cause);
  const meaning = found === null ? undefined : meanings[found];
  const reason = meaning === undefined ? message : `${meaning} (${message})`;
  return new StoreUnavailable(`SQLite: ${reason}${found === null ? "" : `, code ${found}`}`, { cause });
}

/** An error in the form that is sent between threads. */
export interface Failure {
  readonly message: string;
  /** SQLite's extended result code. Null if the error is not from SQLite. */
  readonly errcode: number | null;
}

/** Returns the parts of an error that can be sent to another thread. */
export function toFailure(error: unknown): Failure {
  return { message: error instanceof Error ? error.message : String(error), errcode: findCode(error) };
}

/** Returns an error with the parts that another thread has sent. */
export function toError({ message, errcode }: Failure): Error {
  return Object.assign(new Error(message), errcode === null ? {} : { errcode });
}
