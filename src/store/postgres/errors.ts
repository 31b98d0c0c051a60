import {
  MigrationNeeded,
  StoreFull,
  StoreOutdated,
  StoreTimeout,
  StoreSetupError,
  StoreUnavailable,
} from "../store.ts";
import { refusedState } from "./own-tables.ts";

/** The codes that are told apart (postgresql.org/docs/current/errcodes-appendix.html). */
export const state = {
  /** A cached plan whose columns have other types now, too. */
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
  /** The function of the server that has raised it. */
  readonly routine?: string;
  /** What repeats values of the row or the statement. */
  detail?: string;
  where?: string;
}

const withValues = ["detail", "where"] as const;

/** Whether the server has sent it, and not the network or this process. */
export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "code" in error && /^[0-9A-Z]{5}$/.test(String(error.code)) && "severity" in error;
}

/** The SQLSTATE of an error; null where it is not from the server. */
export function stateOf(error: unknown): string | null {
  return isServerError(error) ? error.code : null;
}

/** The same transaction will do if it is tried again. (A unique value that is taken is an outcome, and so is a key.) */
export function isPassing(error: unknown): boolean {
  const found = stateOf(error);
  return (
    found === state.serialization || found === state.deadlock || found === state.unsupported || found === state.unique
  );
}

/** The server answers and does not write: it is a replica, or was set so. */
export class ReadOnly extends StoreUnavailable {
  constructor() {
    super("PostgreSQL: the server is read-only");
  }
}

/** No connection came about, so nothing can have been done. */
export class NotConnected extends StoreUnavailable {
  constructor(cause: unknown) {
    super(`PostgreSQL: ${reasonOf(cause)}`, { cause });
  }
}

/** The server takes no more connections. */
export function isCrowded(error: unknown): boolean {
  return stateOf(error instanceof NotConnected ? error.cause : error) === state.tooManyClients;
}

/** We have stopped waiting. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && !isServerError(error) && /timeout/.test(error.message);
}

export function isReadOnly(error: unknown): boolean {
  return error instanceof ReadOnly || stateOf(error) === state.readOnly;
}

/** The connection is not to be used again: it is gone, leads to a server that does not write, or knows outdated plans. */
export function spoilsConnection(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof StoreOutdated) return false;
  const found = stateOf(error);
  if (found === null) return true;
  return /^(08|25|26|57P|58|XX|0A)/.test(found);
}

/** A server tells in the language of its `lc_messages`, and with the quotation marks of that. */
const quoted = /["«»„“”‚‘’「」『』].*["«»„“”‚‘’「」『』]/s;

/** What a function of somebody else's trigger does not fail with by itself: connections, conflicts, no room, operators, the system. */
const ofTheServer = /^(?:08|25|40|53|54|55|57|58|XX)/;

/** The error as the store's caller sees it: faults stay what they are. */
export function storeError(error: unknown): unknown {
  // A function of somebody else's trigger looks for a table where ours are; the server answers.
  const isWithin = isServerError(error) && error.where !== undefined;
  // `Failing row contains (…)`: with all values of the row, and whoever hears of the fault may keep the whole error.
  if (isServerError(error)) for (const name of withValues) delete error[name];
  if (error instanceof TypeError || error instanceof MigrationNeeded || error instanceof StoreSetupError) return error;
  if (error instanceof StoreUnavailable) return error;
  const found = stateOf(error);
  // A value that does not fit, or none where one is needed; a statement that is wrong.
  if (found === state.notNull || found === state.check || found === state.tooLargeForIndex)
    return new TypeError((error as Error).message, { cause: error });
  // The server repeats the value in quotes, and it may be a password.
  if (found?.startsWith("22"))
    return new TypeError(`${(error as Error).message.replace(quoted, '"…"')} (SQLSTATE ${found})`);
  // What a row holds is no value of its field.
  if (found === state.refused) return new TypeError((error as Error).message, { cause: error });
  if (found?.startsWith("42") && found !== state.privilege && (found !== state.noTable || isWithin)) return error;
  if (isWithin && !ofTheServer.test(found!)) return error;
  if (found === state.canceled) return new StoreTimeout(`PostgreSQL: ${reasonOf(error)}`, { cause: error });
  return found === state.diskFull
    ? new StoreFull(`PostgreSQL: ${reasonOf(error)}`, { cause: error })
    : unavailable(error);
}

/** The store does not answer, and why. */
export function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`PostgreSQL: ${reasonOf(cause)}`, { cause });
}

/** Why it did not come to an answer. A host with several addresses gives one error for each. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}
