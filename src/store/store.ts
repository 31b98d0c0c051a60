import type { Eventually } from "../eventually.ts";
import type { Cause } from "./cause.ts";

export type { Cause } from "./cause.ts";

export { MigrationNeeded, StoreFull, StoreOverdue, StoreSetupError, StoreUnavailable } from "./failures.ts";

/**
 * The store's contract. Reads and changes are data, so that a driver may answer them at once, batch them, send them to
 * another thread or make one round trip of them. Whatever passes the contract suite (`latchkey/testing`) carries the
 * whole service: sessions, tokens and refresh families are collections like any other.
 */
export interface Store {
  /** Creates what is not there and adds to what is. Throws `MigrationNeeded` and changes nothing where data would be lost. */
  open(collections: readonly Collection[]): Promise<void>;
  /** One row by its key. */
  find(collection: Collection, key: Key): Eventually<Row | null>;
  /** One row by the value of a unique column. A `folded` column is compared without regard to case. */
  findBy(collection: Collection, column: string, value: Value): Eventually<Row | null>;
  /** Rows in the order asked for. */
  list(query: ListQuery): Eventually<readonly Row[]>;
  /**
   * The same rows as one JSON array, built by the database where it can, and how many they are.
   *
   * A driver may remember the page for the query that asked: the very object, which nobody changes. It must forget it with
   * the object, when the store is closed, and as soon as anyone has committed anything, in whatever process: what was
   * acknowledged in this process is on the next page, what another has committed at most a millisecond later. A driver that
   * cannot ask the database whether anyone has committed, in less time than the page would take, remembers nothing.
   */
  listJSON(query: ListQuery): Eventually<ListText>;
  /** How many rows there are. `long`: as for a query. */
  count(collection: Collection, where: Where | null, long?: boolean): Eventually<number>;
  /** How many rows a collection has, within a fifth, at a price that does not grow with it; null where nobody knows. Left out where a driver can only count. */
  estimate?(collection: Collection): Eventually<number | null>;
  /** How the database would find the rows of a query, in its own words and for people; left out where it does not tell. */
  plan?(query: ListQuery): Eventually<readonly string[]>;
  /** What became of an earlier write under this key: what `write` would tell of it, before anything of the request is looked at. Null: the key is free. */
  recall(idempotency: Idempotency): Eventually<Recalled | null>;
  /** All changes or none, on the disk before the promise resolves. */
  write(transaction: Transaction): Promise<Outcome>;
  /** Follows a collection that is only ever added to (integer keys), from any process. A driver that has lost its server begins again with the first row. */
  follow(collection: Collection, onRow: (row: Row) => void): Promise<Feed>;
  /** Resolves while the store answers and its schema is in place; rejects with the reason. */
  check(): Promise<void>;
  /** The database's clock, in milliseconds since the epoch; left out where it is the machine's own. */
  now?(): Promise<number>;
  /** The size of the log of what is not in the database's file yet, in bytes; left out where there is none. */
  walBytes?(): number;
  /** How busy the way to the database is; left out where there are no connections to wait for. */
  connections?(): ConnectionCounts;
  close(): Promise<void>;
}

/** The connections of a store at one moment. */
export interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  /** Work that waits for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/** A table, as the store needs to know it. */
export interface Collection {
  readonly name: string;
  /** `integer` keys are handed out by the store and never twice; `text` keys come with the row. */
  readonly key: "integer" | "text";
  readonly columns: readonly Column[];
  /** Columns that are searched or sorted together, the most selective use first. */
  readonly indexes?: readonly (readonly string[])[];
}

/** A column. Values are what JSON would show: text for decimals (`"12.50"`) and date-times (`2026-01-31T09:30:00.000Z`). */
export interface Column {
  readonly name: string;
  readonly type: "integer" | "text" | "boolean" | "decimal" | "date-time" | "json";
  readonly nullable?: boolean;
  /** `folded`: unique, and compared by `findBy` and `eq`, without regard to case. */
  readonly unique?: boolean | "folded";
  /** Its value without regard to case is kept beside it, for `icontains` and `istarts`. What is `unique` as `folded` has that anyway. */
  readonly folded?: true;
  /** It has few different values: many rows have the same. */
  readonly few?: true;
  /** Digits after the point of a decimal. */
  readonly scale?: number;
  /** What rows that are there already get when the column is added. */
  readonly default?: Value;
  readonly references?: { readonly collection: string; readonly onDelete: "cascade" | "restrict" };
}

export type Key = number | string;
export type Value = string | number | boolean | null | JSONValue;
export type JSONValue =
  | string
  | number
  | boolean
  | null
  | readonly JSONValue[]
  | { readonly [name: string]: JSONValue };

/** A record: the key as `id` first, then the columns in the order declared. */
export type StoredRecord = Readonly<Record<string, Value>>;

/** A record and its revision: a number that no other state of any row ever had. */
export interface Row {
  readonly revision: number;
  readonly record: StoredRecord;
}

export type Operator =
  | "eq"
  | "ne"
  | "lt"
  | "lte"
  | "gt"
  | "gte"
  | "in"
  | "contains"
  | "starts"
  | "icontains"
  | "istarts"
  | "null";

/** Which rows. `id` is a column like any other. `in` takes an array, `null` a boolean. Text compares by code point; `contains` and `starts` regard case; `icontains` and `istarts` do not, and are for folded columns. */
export type Where<C extends string = string> =
  | { readonly column: C; readonly operator: Operator; readonly value: Value }
  | { readonly all: readonly Where<C>[] }
  | { readonly any: readonly Where<C>[] };

export interface Sort {
  readonly column: string;
  readonly descending?: boolean;
  /** Rows without a value come first; last where it is left out, whatever the direction. */
  readonly nullsFirst?: boolean;
}

export interface ListQuery {
  readonly collection: Collection;
  readonly where: Where | null;
  /** The order. The caller puts `id` last, so that it is total. */
  readonly sort: readonly Sort[];
  /** Only rows behind these values of the sorted columns (a keyset). */
  readonly after?: readonly Value[];
  readonly limit: number;
  /** The columns to show, `id` among them if wanted; all where it is left out. `list` always shows all. */
  readonly columns?: readonly string[];
  /** It may have to look at all rows: a driver reads it where nobody waits for it, and gives it up after some seconds with `StoreOverdue`. */
  readonly long?: boolean;
}

export interface ListText {
  /** A JSON array of the records. */
  readonly json: string;
  readonly count: number;
  /** Whether other rows stand behind the last one. */
  readonly more: boolean;
  /** The values of the sorted columns in the first and in the last row; null where there is no row. */
  readonly first: readonly Value[] | null;
  readonly last: readonly Value[] | null;
}

/** The key of a row that the n-th change of the same transaction made. */
export interface KeyOf {
  readonly keyOf: number;
}

export function keyOf(change: number): KeyOf {
  return { keyOf: change };
}

export type WrittenValues = Readonly<Record<string, Value | KeyOf>>;

export type Change =
  /** A new row. With a `key` of an integer collection that number is taken and never handed out again. */
  | {
      readonly kind: "insert";
      readonly collection: Collection;
      readonly key?: Key | KeyOf;
      readonly values: WrittenValues;
    }
  /** Some columns of a row. With `revision`, only in that state. */
  | {
      readonly kind: "update";
      readonly collection: Collection;
      readonly key: Key;
      readonly values: WrittenValues;
      readonly revision?: number;
    }
  /** Removes a row, and what cascades from it. */
  | { readonly kind: "delete"; readonly collection: Collection; readonly key: Key; readonly revision?: number }
  /** Some columns of every row that matches, or of any `atMost` of them; none is fine. With `atMost`, rows that others are changing may be passed over. */
  | {
      readonly kind: "updateAll";
      readonly collection: Collection;
      readonly where: Where;
      readonly values: WrittenValues;
      readonly atMost?: number;
    }
  /** Removes every row that matches, or any `atMost` of them; none is fine. With `atMost`, rows that others are changing may be passed over. */
  | { readonly kind: "deleteAll"; readonly collection: Collection; readonly where: Where; readonly atMost?: number }
  /** Adds to an integer column of a row that is there; a row that is not is made from `values`, with the column at `by`. For counters. */
  | {
      readonly kind: "add";
      readonly collection: Collection;
      readonly key: Key;
      readonly column: string;
      readonly by: number;
      readonly values: WrittenValues;
    }
  /**
   * Erases what is kept of writes that can be repeated: all that this caller has sent, and what the erasable ones of others tell of this row, which
   * are known as repeats from then on and hold its key alone.
   */
  | { readonly kind: "forget"; readonly collection: Collection; readonly key: Key; readonly caller: string }
  /** Ends the transaction unless at least `atLeast` and at most `atMost` rows match at this point of it. */
  | {
      readonly kind: "require";
      readonly collection: Collection;
      readonly where: Where;
      readonly atLeast?: number;
      readonly atMost?: number;
      readonly name: string;
    };

/** The name of a `require` for what a transaction was prepared from: where it does not hold, somebody was faster and it is to be prepared anew. */
export const OVERTAKEN = "overtaken";

export interface Transaction {
  readonly changes: readonly Change[];
  /** Records the outcome under this key, together with the effect; a key that is known changes nothing. */
  readonly idempotency?: Idempotency;
  /** Who is behind it, where a request is. A driver may pass it over. */
  readonly cause?: Cause;
}

/** A write that can be repeated. */
export interface Idempotency {
  /** Who sent it and under which key, as one text: `7 key`. */
  readonly key: string;
  /** What of the first change's row is kept for a repeat, `id` among it. Nothing is kept of other rows. */
  readonly columns: readonly string[];
  /** What the answer says that stands in no row: kept as it is, and erased with what is kept of the row. */
  readonly answer?: JSONValue;
  /** A `forget` is to find it by that row. */
  readonly erasable: boolean;
  /** A digest of the request: the same key with another request is a mismatch. */
  readonly fingerprint: string;
  /** RFC 3339; from then on the key is free again. */
  readonly expiresAt: string;
  /** RFC 3339 */
  readonly now: string;
}

export type Outcome =
  /** For each change the row as it is now: null for a removed one and for those without a row of their own. */
  | { readonly kind: "written"; readonly rows: readonly (Row | null)[] }
  /** The key was used for the same request: the first row as it was written then, with the columns that were kept; `id` alone where it was erased since. */
  | { readonly kind: "replayed"; readonly rows: readonly (Row | null)[]; readonly answer?: JSONValue }
  /** The key was used for another request. */
  | { readonly kind: "mismatch" }
  /** There is no row under this key. */
  | { readonly kind: "missing"; readonly change: number }
  /** The row is in another state than `revision`. */
  | { readonly kind: "stale"; readonly change: number }
  /** Another row has this value; `id` where the key itself is taken. */
  | { readonly kind: "taken"; readonly change: number; readonly column: string }
  /** A reference to a row that is not there. */
  | { readonly kind: "dangling"; readonly change: number; readonly column: string }
  /** Others refer to the row and it was declared that they keep it. */
  | { readonly kind: "referenced"; readonly change: number; readonly collection: string }
  /** A `require` did not hold. */
  | { readonly kind: "refused"; readonly change: number; readonly name: string };

/** What a key tells that was used before. */
export type Recalled = Extract<Outcome, { readonly kind: "replayed" | "mismatch" }>;

/** A view of an append-only collection that is never more than a known time behind. */
export interface Feed {
  /** Takes in at once what is committed, where the engine can tell without waiting (SQLite). */
  catchUp(): void;
  /** How old the view may be, in milliseconds; 0 where `catchUp` is exact. */
  ageMs(): number;
  close(): void;
}
