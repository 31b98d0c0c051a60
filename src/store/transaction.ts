import type { Issue } from "../core/problem/problem.ts";
import type { Collection, JSONValue, Key, Row, Value, Where } from "./rows.ts";

/**
 * A placeholder for the key of the row that another change of the same transaction inserts. The number is the place of
 * that change, from 0.
 */
export interface KeyOf {
  readonly keyOf: number;
}

/**
 * Returns a placeholder for the key that a change of the same transaction gives its new row. `change` is its place in
 * the transaction, from 0.
 */
export function keyOf(change: number): KeyOf {
  return { keyOf: change };
}

/** True if a value is a placeholder for a key. In a JSON column, an object is always data. */
export function isKeyOf(value: unknown): value is KeyOf {
  return typeof value === "object" && value !== null && "keyOf" in value;
}

/** The columns that a change writes, by name. Columns that are left out stay unchanged, or are empty in a new row. */
export type WrittenValues = Readonly<Record<string, Value | KeyOf>>;

/** One change of a transaction. */
export type Change =
  /** Makes a new row. If a row of an integer collection has a `key`, this number is never issued again. */
  | {
      readonly kind: "insert";
      readonly collection: Collection;
      readonly key?: Key | KeyOf;
      readonly values: WrittenValues;
    }
  /**
   * Makes new rows of a relation (a collection with `links`): the record with each of some ids. `record` is its key, or
   * a placeholder for the key from an earlier change.
   */
  | {
      readonly kind: "link";
      readonly collection: Collection;
      readonly record: Key | KeyOf;
      readonly ids: readonly Key[];
    }
  /**
   * Changes some columns of a row. With `revision`, changes the row only if it has this revision. `shown`: the columns
   * of the row in the outcome, for large rows. Default, and always for an existing table: all.
   */
  | {
      readonly kind: "update";
      readonly collection: Collection;
      readonly key: Key;
      readonly values: WrittenValues;
      readonly revision?: number;
      readonly shown?: readonly string[];
    }
  /** Removes a row and the rows that cascade from it. */
  | { readonly kind: "delete"; readonly collection: Collection; readonly key: Key; readonly revision?: number }
  /**
   * Changes some columns of every matching row, or of any `atMost` of them. It is no error if no row matches. With
   * `atMost`, the store may skip rows that other transactions are changing.
   */
  | {
      readonly kind: "updateAll";
      readonly collection: Collection;
      readonly where: Where;
      readonly values: WrittenValues;
      readonly atMost?: number;
    }
  /**
   * Removes every matching row, or any `atMost` of them. It is no error if no row matches. With `atMost`, the store may
   * skip rows that other transactions are changing.
   */
  | { readonly kind: "deleteAll"; readonly collection: Collection; readonly where: Where; readonly atMost?: number }
  /**
   * Adds to an integer column of an existing row. A missing row is made from `values`, with the column set to `by`. For
   * counters.
   */
  | {
      readonly kind: "add";
      readonly collection: Collection;
      readonly key: Key;
      readonly column: string;
      readonly by: number;
      readonly values: WrittenValues;
    }
  /**
   * Erases the idempotency records of this caller. Also erases this row from the erasable records of other callers.
   * These records keep the key of the row, so repeated requests are still recognized.
   */
  | { readonly kind: "forget"; readonly collection: Collection; readonly key: Key; readonly caller: string }
  /**
   * Requires that at least `atLeast` and at most `atMost` rows match at this point. Otherwise, the outcome is `refused`
   * and nothing is written. Other transactions cannot change the matching rows until this transaction ends. With
   * `isGuarded`, the store does not have to block changes of matching rows, or new ones: an earlier `require` or the
   * `requires` of this transaction have locked a row, and every transaction that adds or removes a matching row also
   * locks that row. Or a unique column refuses what both of these transactions add.
   */
  | {
      readonly kind: "require";
      readonly collection: Collection;
      readonly where: Where;
      readonly atLeast?: number;
      readonly atMost?: number;
      readonly isGuarded?: boolean;
      readonly name: string;
      /** The fields that the caller sees if the requirement fails. A store ignores them. */
      readonly issues?: readonly Issue[];
    };

/**
 * The name of a `require` for the state that a transaction was prepared from. If it fails, another write was faster,
 * and the transaction must be prepared again.
 */
export const OVERTAKEN = "overtaken";

/** Changes that are written all together or not at all. */
export interface Transaction {
  readonly changes: readonly Change[];
  /**
   * A condition that must hold before the first change. Otherwise, nothing is written and the outcome is `refused`, with `change`
   * -1 and the name `OVERTAKEN`. A repeated request (`idempotency`) is recognized before this check.
   */
  readonly requires?: readonly Requirement[];
  /**
   * Records the outcome under this key, in the same transaction. If the key was used before, the transaction changes
   * nothing.
   */
  readonly idempotency?: Idempotency;
  /** The caller and the request that caused the transaction, if there was a request. A driver may ignore it. */
  readonly cause?: Cause;
}

/**
 * Requires that at least one row of the collection matches. Until the transaction ends, no other transaction of the
 * service can change or remove the row that was found. In an existing table that the service may not update, PostgreSQL
 * cannot lock the row, and only checks that it is there.
 */
export interface Requirement {
  readonly collection: Collection;
  readonly where: Where;
}

/** The idempotency data of a write, which may be repeated. */
export interface Idempotency {
  /** The caller and the caller's key, as one text: `7 key`. */
  readonly key: string;
  /** The columns, including `id`, of the rows that are stored for a repeated request. */
  readonly columns: readonly string[];
  /** The number of changes, from the first, whose rows are stored. Default: one. */
  readonly rows?: number;
  /** The part of the response that is in no row. It is stored unchanged, and erased together with the stored row. */
  readonly answer?: JSONValue;
  /** True if a `forget` of the stored row must find this record. */
  readonly erasable: boolean;
  /** A digest of the request. The same key with another request is a mismatch. */
  readonly fingerprint: string;
  /** A time in RFC 3339 format. From then on, the key is free again. */
  readonly expiresAt: string;
  /** The current time, in RFC 3339 format. */
  readonly now: string;
}

/** The outcome of a transaction. Only `written` and `replayed` mean that changes were made. */
export type Outcome =
  /** The current row for each change. Null for a removed row, and for changes without a row. */
  | { readonly kind: "written"; readonly rows: readonly (Row | null)[] }
  /**
   * The key was used for the same request. Returns the stored columns of the stored rows, as the first request wrote
   * them. A row that was erased later has only its `id`.
   */
  | { readonly kind: "replayed"; readonly rows: readonly (Row | null)[]; readonly answer?: JSONValue }
  /** The key was used for another request. */
  | { readonly kind: "mismatch" }
  /** No row has this key. */
  | { readonly kind: "missing"; readonly change: number }
  /** The row has another revision than the change requires. */
  | { readonly kind: "stale"; readonly change: number }
  /**
   * Another row has this value. `column` is `id` if the key itself is taken. `column` is null if the rule covers more
   * than one column. `columns` are those of a declared set (`uniques`).
   */
  | {
      readonly kind: "taken";
      readonly change: number;
      readonly column: string | null;
      readonly columns?: readonly string[];
    }
  /**
   * A reference points to a missing row. `place`: the position of the id in a `link`, from 0, if the database reports
   * it.
   */
  | { readonly kind: "dangling"; readonly change: number; readonly column: string; readonly place?: number }
  /**
   * The values violate a rule of an existing table, or a value is too long for the database. `column` is null if the
   * database does not report the column.
   */
  | { readonly kind: "unfit"; readonly change: number; readonly column: string | null }
  /** Other rows refer to this row, and their declaration restricts its deletion. */
  | { readonly kind: "referenced"; readonly change: number; readonly collection: string }
  /** A `require` failed, or one of `requires`: `change` is then -1. */
  | { readonly kind: "refused"; readonly change: number; readonly name: string; readonly issues?: readonly Issue[] };

/** The result of an earlier write with a used key. */
export type Recalled = Extract<Outcome, { readonly kind: "replayed" | "mismatch" }>;

/** The caller and the request behind a transaction. It has only ids and no credentials. */
export interface Cause {
  /** Null if there is no user. */
  readonly userId: number | null;
  /** The administrator who acts for the user. Left out if there is none. */
  readonly actorId?: number;
  /** The name of the scheme that accepted the credential. */
  readonly scheme: string | null;
  /** The id of the named key, the session or the refresh family of the caller. Null if there is none. */
  readonly credentialId: string | null;
  /** The value of `X-Request-Id`. */
  readonly requestId: string;
  /** The trace in the caller's `traceparent`, and the caller's span in it. */
  readonly traceId: string | null;
  readonly parentId: string | null;
}
