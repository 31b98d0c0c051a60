import { StoreUnavailable } from "../store.ts";

/** The result codes that are told apart (sqlite.org/rescode.html). */
export const code = {
  foreignKey: 787,
  primaryKey: 1555,
  trigger: 1811,
  unique: 2067,
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
  return isStoreFailure(error) || isClosed(error) ? unavailable(error) : error;
}

/** A connection that was closed meanwhile, and its statements, are used no more: node:sqlite says so with this code. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_INVALID_STATE";
}

/** The store does not answer, and why. */
export function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`SQLite: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}
