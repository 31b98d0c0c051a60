import type { Operator } from "../core/operators.ts";

// What is kept: collections, their columns and their rows, and which rows are meant.

/** A table, as the store needs to know it. `V` is a row of it, where the type checker knows one. */
export interface Collection<V = unknown> {
  readonly name: string;
  /** `integer` keys are handed out by the store and never twice; `text` keys come with the row. */
  readonly key: "integer" | "text";
  readonly columns: readonly Column[];
  /** Columns that are searched or sorted together, the most selective use first. */
  readonly indexes?: readonly (readonly string[])[];
  /** What is made of the columns of a row whenever it is read, by SQL, and kept nowhere. */
  readonly computed?: readonly ComputedColumn[];
  /** The table that was there before and that others write to, where the store makes none of its own. */
  readonly existing?: ExistingTable;
  /** Columns that are declared no more and stay, unseen, each with the month until which: `{ nickname: "2027-01" }`. */
  readonly removed?: Readonly<Record<string, string>>;
  /** The lists of ids of which its rows are made, where they stand in the records of another collection. Its columns are the record and the id. */
  readonly links?: KeptLinks;
  /** Only for the type checker. */
  readonly typed?: V;
}

/** Where lists of ids stand. */
export interface KeptLinks {
  readonly collection: string;
  /** A JSON column. */
  readonly column: string;
  /** The collection that had them under the name before. */
  readonly was?: string;
}

/**
 * A table that was there before: others have made it, change its form and write to it. The store reads the columns that are named, and
 * writes those where it may; it adds nothing to it and remembers nothing of it.
 */
export interface ExistingTable {
  /** Its name; on PostgreSQL also with its schema: `shop.orders`. */
  readonly table: string;
  /** What its columns are called where that is not what the collection calls them; `id` is the key. */
  readonly names: Readonly<Record<string, string>>;
  /** What the store may do with its rows. */
  readonly writes: readonly TableWrite[];
  /** The columns that are written, by their declared names; all where it is left out. */
  readonly written?: readonly string[];
  /** What tells one state of a row from another: a counted integer column, or else what the database has (`xmin`), or a digest of the row. */
  readonly revision: "database" | "digest" | { readonly column: string };
  /** How the columns were found when the store was opened, by their declared names. Nobody declares it. */
  readonly found?: Readonly<Record<string, FoundColumnForm>>;
  /** What an index over its key serves, where that is not everything, as it was found (`Column.served`). */
  readonly served?: "equality" | "nothing";
  /** The columns that its constraints are about, by their names, as they were found; what the database tells when a row breaks one. */
  readonly constraints?: Readonly<Record<string, string>>;
}

/** What may be done with the rows of a table that was there before. */
export type TableWrite = "create" | "update" | "delete";

/** How a column of a table that was there before keeps its values. */
export interface FoundColumnForm {
  /** The type, as the database spells it. */
  readonly storage: string;
  readonly nullable: boolean;
  /** The database gives it a value where nobody does. */
  readonly filled: boolean;
  /** The database alone gives it its values. */
  readonly generated: boolean;
  /** The words of an enumeration of the database. */
  readonly words?: readonly string[];
  /** Whether its texts are ordered by code point (PostgreSQL). */
  readonly byCodePoint?: boolean;
  /** Texts are equal to it that are another, because its collation is not deterministic (PostgreSQL). */
  readonly isLoose?: boolean;
  /** How its date-times are written, where they are texts. */
  readonly shape?: DateTimeShape;
}

/** How a column of SQLite writes date-times: as `toISOString` does, or with a space or a T in the middle, and nothing or `+00:00` at the end. */
export type DateTimeShape = "zulu" | "spaced" | "spaced in zone" | "T" | "T in zone";

/** A column. Values are what JSON would show: finite numbers for doubles, text for decimals (`"12.50"`) and date-times (`2026-01-31T09:30:00.000Z`). */
export interface Column {
  readonly name: string;
  readonly type: "integer" | "text" | "boolean" | "decimal" | "double" | "date" | "date-time" | "json";
  readonly nullable?: boolean;
  /** `folded`: unique, and compared by `findBy` and `eq`, without regard to case. */
  readonly unique?: boolean | "folded";
  /** Its value without regard to case is kept beside it, for `icontains` and `istarts`. What is `unique` as `folded` has that anyway. */
  readonly folded?: true;
  /** A text whose words are found by an index (`wordsOf`). */
  readonly searched?: true;
  /** It has few different values: many rows have the same. */
  readonly few?: true;
  /** Found in a table that was there before: what an index over it serves, where that is not everything. */
  readonly served?: "equality" | "nothing";
  /** Digits after the point of a decimal. */
  readonly scale?: number;
  /** The values of a decimal are numbers, and not text: of fifteen digits at most. */
  readonly number?: true;
  /** What rows that are there already get when the column is added. */
  readonly default?: Value;
  readonly references?: { readonly collection: string; readonly onDelete: "cascade" | "restrict" };
  /** What its values are besides their type, as data: where it changes, the rows that are there are looked at. */
  readonly rule?: JSONValue;
  /** Whether a value keeps the rule. */
  readonly fits?: (value: Value) => boolean;
  /** Where its values come from when the rows that are there have none of it, or others. */
  readonly origin?: Origin;
}

/** A value that the database makes of the columns of a row: shown with it, and neither written, compared nor sorted by. */
export interface ComputedColumn extends Column {
  /** An expression over the columns of the row, where it is for one of the databases or for both. The author of the program writes it. */
  readonly sql: SQLConversion;
}

/** Where the values of a column come from. It is looked at once, when the table is made to fit. */
export interface Origin {
  /** What the column was called before. */
  readonly renamedFrom?: string;
  /** Gives the new value for an old one that is not null, where the type or the name changes, or where it keeps the rule no more. */
  readonly convert?: ((old: Value) => Value) | SQLConversion;
  /** What rows get that have no value, where one is needed: a value, or a function of the row as it was. */
  readonly backfill?: Value | ((row: StoredRecord) => Value);
}

/** A conversion as an expression of each database, over the columns as they were: `{ sqlite: 'upper("title")', postgres: 'upper("title")' }`. */
export interface SQLConversion {
  readonly sqlite?: string;
  readonly postgres?: string;
}

/** The key of a row: an integer from 1, or a text. */
export type Key = number | string;
/** What a column holds. Decimals are texts, instants texts of RFC 3339. */
export type Value = string | number | boolean | null | JSONValue;
/** What JSON can say. */
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

export type { Operator } from "../core/operators.ts";

/** Which rows. `id` is a column like any other. `in` takes an array, `null` a boolean. Text compares by code point; `contains` and `starts` regard case; `icontains` and `istarts` do not, and are for folded columns. A comparison with no value does not hold, and `not` turns exactly that round: every row is one or the other. */
export type Where<C extends string = string> =
  | { readonly column: C; readonly operator: Operator; readonly value: Value }
  /**
   * A word (`wordsOf`) in one of the searched columns begins like this. `few`: hardly any rows have it (`countWords`), and are found by
   * it; with `waiting` many besides that are not in the index yet, and have to be looked at.
   */
  | { readonly word: string; readonly few?: true; readonly waiting?: true }
  /** The rows that the other collection names, in its column `record`, beside one of these values of `linked`. */
  | { readonly link: Collection; readonly record: string; readonly linked: string; readonly values: readonly Key[] }
  | { readonly all: readonly Where<C>[] }
  | { readonly any: readonly Where<C>[] }
  | { readonly not: Where<C> };
