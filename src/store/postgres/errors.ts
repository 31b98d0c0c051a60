import {
  MigrationNeeded,
  StoreFull,
  StoreOutdated,
  StoreTimeout,
  StoreSetupError,
  StoreUnavailable,
} from "../store.ts";
import { refusedState } from "./own-tables.ts";

/** The error codes that the driver distinguishes (postgresql.org/docs/current/errcodes-appendix.html). */
export const state = {
  /** A prepared statement also fails with this code if the types of its columns have changed. */
  unsupported: "0A000",
  restrict: "23001",
  notNull: "23502",
  foreignKey: "23503",
  unique: "23505",
  check: "23514",
  exclusion: "23P01",
  raised: "P0001",
  readOnly: "25006",
  noStatement: "26000",
  aborted: "25P02",
  canceled: "57014",
  dependent: "2BP01",
  serialization: "40001",
  deadlock: "40P01",
  privilege: "42501",
  noTable: "42P01",
  diskFull: "53100",
  tooManyClients: "53300",
  tooLargeForIndex: "54000",
  generatedKey: "428C9",
  refused: refusedState,
} as const;

/** An error that PostgreSQL has sent. */
export interface ServerError extends Error {
  readonly code: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly column?: string;
  /** The C function of the server that raised the error, for example `exec_stmt_raise`. */
  readonly routine?: string;
  /** Repeats values of the row or the statement. */
  detail?: string;
  where?: string;
}

const withValues = ["detail", "where"] as const;

/** True if the server sent the error, and not the network or this process. */
export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code)) && "severity" in error;
}

/** Returns the SQLSTATE of an error, or null if it is not from the server. */
export function findSQLState(error: unknown): string | null {
  return isServerError(error) ? error.code : null;
}

/**
 * True if a retry of the transaction can succeed. The store returns a taken unique value or key as an outcome. A
 * violated unique index that reaches this function can come from concurrent work, for example from two processes that
 * create the same table.
 */
export function isPassing(error: unknown): boolean {
  const found = findSQLState(error);
  return (
    found === state.serialization || found === state.deadlock || found === state.unsupported || found === state.unique
  );
}

/** The server answers and refuses writes, because it is a replica or is set to read-only. */
export class ReadOnly extends StoreUnavailable {
  constructor() {
    super("PostgreSQL: the server is read-only");
  }
}

/** No connection was made, so nothing was done. */
export class NotConnected extends StoreUnavailable {
  constructor(cause: unknown) {
    super(`PostgreSQL: ${describeReason(cause)}`, { cause });
  }
}

/** True if the server refuses more connections. */
export function isCrowded(error: unknown): boolean {
  return findSQLState(error instanceof NotConnected ? error.cause : error) === state.tooManyClients;
}

/** True if this process stopped waiting for the server. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && !isServerError(error) && /timeout/.test(error.message);
}

export function isReadOnly(error: unknown): boolean {
  return error instanceof ReadOnly || findSQLState(error) === state.readOnly;
}

/**
 * True if the connection must not be used again: it is lost, its server does not accept writes, or its prepared
 * statements are outdated.
 */
export function spoilsConnection(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof StoreOutdated) return false;
  const found = findSQLState(error);
  if (found === null) return true;
  return /^(08|25|26|57P|58|XX|0A)/.test(found);
}

/** The server writes messages in the language of its `lc_messages`, with the quotation marks of that language. */
const quoted = /["«»„“”‚‘’「」『』].*["«»„“”‚‘’「」『』]/s;

/**
 * The classes of errors that a trigger function does not cause itself: connections, conflicts, no space, limits, a
 * stopped server, the system.
 */
const ofTheServer = /^(?:08|25|40|53|54|55|57|58|XX)/;

/** Converts an error for the caller of the store. Faults stay unchanged. */
export function storeError(error: unknown): unknown {
  // If a trigger function of another program fails, for example because its table does not exist, the server itself is
  // available.
  const isWithin = isServerError(error) && error.where !== undefined;
  // The detail `Failing row contains (…)` shows all values of the row, and a log may store the whole error.
  if (isServerError(error)) for (const name of withValues) delete error[name];
  if (error instanceof TypeError || error instanceof MigrationNeeded || error instanceof StoreSetupError) return error;
  if (error instanceof StoreUnavailable) return error;
  const found = findSQLState(error);
  // A value does not fit, or a required value is missing.
  if (found === state.notNull || found === state.check || found === state.tooLargeForIndex)
    return new TypeError((error as Error).message, { cause: error });
  // The server repeats the value in quotes, and the value may be a password.
  if (found?.startsWith("22"))
    return new TypeError(`${(error as Error).message.replace(quoted, '"…"')} (SQLSTATE ${found})`);
  // A row contains a value that its field does not allow.
  if (found === state.refused) return new TypeError((error as Error).message, { cause: error });
  if (found?.startsWith("42") && found !== state.privilege && (found !== state.noTable || isWithin)) return error;
  if (isWithin && !ofTheServer.test(found!)) return error;
  if (found === state.canceled) return new StoreTimeout(`PostgreSQL: ${describeReason(error)}`, { cause: error });
  return found === state.diskFull
    ? new StoreFull(`PostgreSQL: ${describeReason(error)}`, { cause: error })
    : unavailable(error);
}

/** Creates the error for a store that does not answer, with the reason. */
export function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`PostgreSQL: ${describeReason(cause)}`, { cause });
}

/**
 * Returns the reason why there was no answer. For a host with several addresses, the error contains one error for each
 * address.
 */
export function describeReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeReason).join(", ");
  return error instanceof Error ? error.message : String(error);
}
