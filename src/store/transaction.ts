import type { Issue } from "../core/problem/problem.ts";
import type { Collection, JSONValue, Key, Row, Value, Where } from "./rows.ts";

/** The key of a row that the n-th change of the same transaction made. */
export interface KeyOf {
  readonly keyOf: number;
}

/** Stands for the key that a change of the same transaction gives its new row. `change` is its place in the transaction, from 0. */
export function keyOf(change: number): KeyOf {
  return { keyOf: change };
}

/** Whether a value stands for such a key. In a json column an object is data, whatever its members are called. */
export function isKeyOf(value: unknown): value is KeyOf {
  return typeof value === "object" && value !== null && "keyOf" in value;
}

/** The columns that a change writes, by name; those that are left out stay as they are, or empty in a new row. */
export type WrittenValues = Readonly<Record<string, Value | KeyOf>>;

/** One change of a transaction. */
export type Change =
  /** A new row. With a `key` of an integer collection that number is taken and never handed out again. */
  | {
      readonly kind: "insert";
      readonly collection: Collection;
      readonly key?: Key | KeyOf;
      readonly values: WrittenValues;
    }
  /**
   * New rows of a relation (a collection with `links`): a record beside each of some ids. `record` is its key, or stands for the key that a change
   * before this one gives it.
   */
  | {
      readonly kind: "link";
      readonly collection: Collection;
      readonly record: Key | KeyOf;
      readonly ids: readonly Key[];
    }
  /**
   * Some columns of a row. With `revision`, only in that state. `shown`: the columns that the outcome has of the row, for rows that are large;
   * all if left out, and always of a table that was there before.
   */
  | {
      readonly kind: "update";
      readonly collection: Collection;
      readonly key: Key;
      readonly values: WrittenValues;
      readonly revision?: number;
      readonly shown?: readonly string[];
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
  /**
   * Ends the transaction unless at least `atLeast` and at most `atMost` rows match at this point of it. Others are kept from making it untrue until
   * it ends. With `isGuarded` nobody has to be kept from adding rows: whoever does so requires a row that this transaction has required before.
   */
  | {
      readonly kind: "require";
      readonly collection: Collection;
      readonly where: Where;
      readonly atLeast?: number;
      readonly atMost?: number;
      readonly isGuarded?: boolean;
      readonly name: string;
      /** The fields that the caller is shown if it does not hold. A store ignores it. */
      readonly issues?: readonly Issue[];
    };

/** The name of a `require` for what a transaction was prepared from: where it does not hold, somebody was faster and it is to be prepared anew. */
export const OVERTAKEN = "overtaken";

/** Changes that are written together or not at all. */
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
  /** How many of the first changes' rows are kept so; one where it is left out. */
  readonly rows?: number;
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

/** What became of a transaction. Whatever is not `written` or `replayed` has changed nothing. */
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
  /** Another row has this value; `id` where the key itself is taken; null where the rule of an existing table is about no single column. */
  | { readonly kind: "taken"; readonly change: number; readonly column: string | null }
  /** A reference to a row that is not there. `place`: which of the ids of a `link` it is, from 0, if the database can tell. */
  | { readonly kind: "dangling"; readonly change: number; readonly column: string; readonly place?: number }
  /** A table that was there before has a rule of its own that the values do not keep, or the database has no room for one of them; null where it does not tell which column. */
  | { readonly kind: "unfit"; readonly change: number; readonly column: string | null }
  /** Others refer to the row and it was declared that they keep it. */
  | { readonly kind: "referenced"; readonly change: number; readonly collection: string }
  /** A `require` did not hold. */
  | { readonly kind: "refused"; readonly change: number; readonly name: string; readonly issues?: readonly Issue[] };

/** What a key tells that was used before. */
export type Recalled = Extract<Outcome, { readonly kind: "replayed" | "mismatch" }>;

/** Who is behind a transaction, and in which request: ids alone, and nothing that proves anything. */
export interface Cause {
  /** Null for nobody. */
  readonly userId: number | null;
  /** The name of the scheme that accepted the credential. */
  readonly scheme: string | null;
  /** The id of the named key, the session or the refresh family that the caller came with; null where it has none. */
  readonly credentialId: string | null;
  /** As `X-Request-Id` tells it. */
  readonly requestId: string;
  /** The trace that the caller's `traceparent` names, and the caller's span in it. */
  readonly traceId: string | null;
  readonly parentId: string | null;
}
