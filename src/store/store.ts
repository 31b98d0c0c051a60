import type { Eventually } from "../core/eventually.ts";
import type { Collection, Key, Row, Value, Where } from "./rows.ts";
import type { Idempotency, Outcome, Recalled, Transaction } from "./transaction.ts";

export type * from "./rows.ts";
export { isKeyOf, keyOf, OVERTAKEN } from "./transaction.ts";
export type * from "./transaction.ts";

export {
  MigrationNeeded,
  StoreFull,
  StoreOutdated,
  StoreTimeout,
  StoreSetupError,
  StoreUnavailable,
} from "./failures.ts";

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
   *
   * What belongs to the rows of the page (`beside`) may be told with it, where that saves a trip.
   */
  listJSON(query: ListQuery, beside?: readonly BesideQuery[]): Eventually<ListText>;
  /**
   * How many rows have a word in their searched columns that begins like each of these (`wordsOf`): roughly, and beyond `atMost` no
   * more than that there are more. Null while the index of the words is being built. Left out where a driver has none.
   */
  countWords?(collection: Collection, words: readonly string[], atMost: number): Eventually<WordCounts | null>;
  /** What belongs to each of some keys, in one statement and by an index; keys without rows are left out. Null where it is longer than asked for. */
  listRelated(query: RelatedQuery): Eventually<readonly RelatedText[] | null>;
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
  /** Follows a collection that is only ever added to (integer keys), from any process. A driver that has lost its server begins again with the first row, and with the row that `onRow` has thrown at. */
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

/** How many rows have each of some words. */
export interface WordCounts {
  readonly rows: readonly number[];
  /** How many rows were written and are not in the index of the words yet. */
  readonly waiting: number;
}

/** A column that a list is ordered by. */
export interface Sort {
  readonly column: string;
  readonly descending?: boolean;
  /** Rows without a value come first; last where it is left out, whatever the direction. */
  readonly nullsFirst?: boolean;
}

/** A page of rows, as a store is asked for it. */
export interface ListQuery {
  readonly collection: Collection;
  readonly where: Where | null;
  /** The order. The caller puts `id` last, so that it is total. */
  readonly sort: readonly Sort[];
  /** Only rows behind these values of the sorted columns (a keyset). */
  readonly after?: readonly Value[];
  readonly limit: number;
  /** The columns to show, `id` among them if wanted. Default: all. */
  readonly columns?: readonly string[];
  /** It may have to look at all rows: a driver reads it where nobody waits for it, and gives it up after some seconds with `StoreTimeout`. */
  readonly long?: boolean;
  /** This very object is asked again and again: a driver may keep its page for as long as nobody has committed. */
  readonly repeated?: boolean;
  /** Ends a page after the record that brings its JSON to this many octets (UTF-8). Default: no limit. For `listJSON`. */
  readonly maxLength?: number;
}

/** A page as the text of a JSON array, with what its neighbours are found by. */
export interface ListText {
  /** A JSON array of the records. */
  readonly json: string;
  readonly count: number;
  /** Whether other rows stand behind the last one. */
  readonly more: boolean;
  /** The values of the sorted columns in the first and in the last row; null where there is no row. */
  readonly first: readonly Value[] | null;
  readonly last: readonly Value[] | null;
  /** What was asked for beside the rows, in that order, as `listRelated` tells it; left out where it has to be asked for by itself. */
  readonly beside?: readonly (readonly RelatedText[] | null)[];
}

/** Rows that belong to others: `where` narrows them, `limit` is for each key, and the first by `id` count. `long`: many may have to be looked at. */
export interface RelatedQuery extends Omit<ListQuery, "sort" | "after"> {
  /** A column of integers or texts with an index that begins with it and goes on with `id`, or `id` itself. */
  readonly column: string;
  /** The values of that column, each once. */
  readonly keys: readonly Key[];
  /** The most characters of JSON in all. */
  readonly maxLength: number;
}

/** What belongs to the rows of a page: to each value that they have in the column `from`. */
export interface BesideQuery extends Omit<RelatedQuery, "keys"> {
  readonly from: string;
}

/** What belongs to one key: a JSON array, and whether other rows stand behind the last one. */
export interface RelatedText extends Pick<ListText, "json" | "more"> {
  readonly key: Key;
}

/** A view of an append-only collection that is never more than a known time behind. */
export interface Feed {
  /** Takes in at once what is committed, where the engine can tell without waiting (SQLite). */
  catchUp(): void;
  /** How old the view may be, in milliseconds; 0 where `catchUp` is exact. */
  ageMs(): number;
  close(): void;
}

/** The connections of a store at one moment. */
export interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  /** Work that waits for a connection. */
  readonly waiting: number;
  readonly max: number;
}
