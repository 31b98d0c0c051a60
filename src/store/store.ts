import type { Eventually } from "../core/eventually.ts";
import type { Collection, Key, Row, Value, Where } from "./rows.ts";
import type { Idempotency, Outcome, Recalled, Transaction } from "./transaction.ts";

export type * from "./rows.ts";
export { isKeyOf, keyOf, OVERTAKEN } from "./transaction.ts";
export type * from "./transaction.ts";

export {
  LongReadNeeded,
  MigrationNeeded,
  StoreFull,
  StoreOutdated,
  StoreTimeout,
  StoreSetupError,
  StoreUnavailable,
} from "./failures.ts";

/**
 * The contract of a store. Reads and changes are data, so a driver can answer them immediately, batch them, send them
 * to another thread or combine them in one round trip. A store that passes the contract suite (`latchkey/testing`)
 * works for the whole service: sessions, tokens and refresh families are ordinary collections.
 */
export interface Store {
  /**
   * Creates missing tables and extends existing ones. Throws `MigrationNeeded` and changes nothing if data would be
   * lost.
   */
  open(collections: readonly Collection[]): Promise<void>;
  /** Reads a row by its key. Returns null if there is none. */
  find<V>(collection: Collection<V>, key: Key): Eventually<Row<V> | null>;
  /**
   * Reads a row by the value of a unique column. Returns null if there is none. A `folded` column is compared without
   * regard to case.
   */
  findBy<V>(collection: Collection<V>, column: string, value: Value): Eventually<Row<V> | null>;
  /** Reads rows in the requested order. */
  list<V>(query: ListQuery<V>): Eventually<readonly Row<V>[]>;
  /**
   * Reads the same rows as `list`, as one JSON array, which the database builds if it can. Also returns the number of
   * rows.
   *
   * A driver may cache the page under the query object, which callers never change. It must drop a cached page when the
   * query object is freed, when the store is closed, and after any process has committed a change. A page therefore
   * contains every acknowledged write of this process. It shows a commit of another process at most a millisecond late.
   * A driver must not cache if a check for new commits takes longer than reading the page.
   *
   * `beside` requests rows that belong to the rows of the page. A driver may return them too, if this saves a round
   * trip.
   */
  listJSON(query: ListQuery, beside?: readonly BesideQuery[]): Eventually<ListText>;
  /**
   * Counts, for each of these words (`splitWords`), the rows whose searched columns contain a word that starts with it.
   * The number is approximate. A number above `atMost` only means that there are more rows. Null while the word index
   * is being built. Left out if a driver has no word index.
   */
  countWords?(collection: Collection, words: readonly string[], atMost: number): Eventually<WordCounts | null>;
  /**
   * Reads the rows that belong to each of the keys, with one statement and an index. The result leaves out keys without
   * rows. Null if the result is longer than `maxLength`.
   */
  listRelated(query: RelatedQuery): Eventually<readonly RelatedText[] | null>;
  /** Counts rows. `long` has the same meaning as in `ListQuery`. */
  count(collection: Collection, where: Where | null, long?: boolean): Eventually<number>;
  /**
   * Estimates the number of rows in a collection, with an error of at most a fifth, at a constant cost. Null if the
   * number is unknown. Left out if a driver can only count.
   */
  estimate?(collection: Collection): Eventually<number | null>;
  /**
   * Describes for people, in the words of the database, how it would find the rows of a query. Left out if a database
   * does not report it.
   */
  plan?(query: ListQuery): Eventually<readonly string[]>;
  /**
   * Reads the result of an earlier write with this key, before the request is processed. `write` would return the same
   * result. Null if the key is free.
   */
  recall(idempotency: Idempotency): Eventually<Recalled | null>;
  /** Writes all changes or none. They are on the disk before the promise resolves. */
  write(transaction: Transaction): Promise<Outcome>;
  /**
   * Calls `onRow` for each row of an append-only collection with integer keys. Another process may have written the
   * row. After a lost connection, a driver starts again from the first row. It also repeats a row if `onRow` threw.
   */
  follow<V>(collection: Collection<V>, onRow: (row: Row<V>) => void): Promise<Feed>;
  /** Resolves if the store answers and its schema exists. Rejects with the reason. */
  check(): Promise<void>;
  /** Returns the database's clock, in milliseconds since the epoch. Left out if it is the clock of this machine. */
  now?(): Promise<number>;
  /**
   * Returns the size of the part of the write-ahead log that is not in the database file yet, in bytes. Left out if the
   * driver has no such log.
   */
  walBytes?(): number;
  /** Returns how busy the connections are. Left out if callers never wait for a connection. */
  connections?(): ConnectionCounts;
  close(): Promise<void>;
}

/** For each requested word, the approximate number of rows with the word. */
export interface WordCounts {
  readonly rows: readonly number[];
  /** The number of written rows that are not in the word index yet. */
  readonly waiting: number;
}

/** A column that a list is ordered by. */
export interface Sort {
  readonly column: string;
  readonly descending?: boolean;
  /** Puts rows without a value first. Otherwise they are last, in both directions. */
  readonly nullsFirst?: boolean;
}

/** A query for a page of rows. `V` is the type of a row, if it is known. */
export interface ListQuery<V = unknown> {
  readonly collection: Collection<V>;
  readonly where: Where | null;
  /** The order. The caller puts `id` last, so the order is total. */
  readonly sort: readonly Sort[];
  /** Only the rows after these values of the sorted columns (a keyset). */
  readonly after?: readonly Value[];
  readonly limit: number;
  /** The columns to show, including `id` if it is wanted. Default: all. */
  readonly columns?: readonly string[];
  /**
   * The query may scan all rows. A driver runs it so that no other caller waits, and stops it after some seconds with
   * `StoreTimeout`.
   */
  readonly long?: boolean;
  /**
   * Without `long`, the driver may throw `LongReadNeeded` if the rows of a condition on other rows (`among`) are far
   * apart in this order. The caller then repeats the query with `long`. Without this member, the driver does that.
   */
  readonly mayRefuse?: true;
  /** The caller uses this query object again and again. A driver may cache its page until the next commit. */
  readonly repeated?: boolean;
  /**
   * Ends a page after the record that brings its JSON to this many octets (UTF-8). Default: no limit. For `listJSON`.
   */
  readonly maxLength?: number;
}

/** A page as the text of a JSON array, with the values that find the next and the previous page. */
export interface ListText {
  /** A JSON array of the records. */
  readonly json: string;
  readonly count: number;
  /** True if there are more rows after the last one. */
  readonly more: boolean;
  /** The values of the sorted columns in the first and in the last row. Null if there are no rows. */
  readonly first: readonly Value[] | null;
  readonly last: readonly Value[] | null;
  /**
   * The rows requested with `beside`, in that order and in the form of `listRelated`. Left out if they must be
   * requested separately.
   */
  readonly beside?: readonly (readonly RelatedText[] | null)[];
}

/**
 * A query for the rows that belong to some keys. `where` narrows them. `limit` is the maximum number of rows for each
 * key. The rows are in the order of `id`. `long` means that the query may scan many rows.
 */
export interface RelatedQuery extends Omit<ListQuery, "sort" | "after"> {
  /** `id`, or a column of integers or texts. An index must begin with this column and continue with `id`. */
  readonly column: string;
  /** The values of that column, each once. */
  readonly keys: readonly Key[];
  /** The maximum number of characters of JSON in total. */
  readonly maxLength: number;
}

/** A query for the rows that belong to the rows of a page. The keys are the values of the page's column `from`. */
export interface BesideQuery extends Omit<RelatedQuery, "keys"> {
  readonly from: string;
}

/** The rows that belong to one key: a JSON array, and whether there are more rows after the last one. */
export interface RelatedText extends Pick<ListText, "json" | "more"> {
  readonly key: Key;
}

/** A running `follow`. It shows the rows of an append-only collection with a delay, which has a known limit. */
export interface Feed {
  /** Reads the committed rows immediately, if the engine can do so without waiting (SQLite). */
  catchUp(): void;
  /** Returns the largest possible delay of the view, in milliseconds. 0 if `catchUp` is exact. */
  ageMs(): number;
  close(): void;
}

/** The connections of a store at one moment. */
export interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  /** The number of operations that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}
