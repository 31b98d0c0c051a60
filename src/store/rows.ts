import type { Operator } from "../core/operators.ts";

// The types for stored data: collections, their columns and their rows, and conditions that select rows.

/** The declaration of a table for the store. `V` is the type of a row, if it is known. */
export interface Collection<V = unknown> {
  readonly name: string;
  /** The store issues `integer` keys, each only once. The caller chooses `text` keys. */
  readonly key: "integer" | "text";
  readonly columns: readonly Column[];
  /**
   * The columns of each index: those that are searched or sorted together. The column that selects the fewest rows
   * comes first.
   */
  readonly indexes?: readonly (readonly string[])[];
  /**
   * The sets of columns in which no two rows have the same values. A row with null in one of the columns has no equal
   * row. A set has at least two columns: one column is `unique` by itself.
   */
  readonly uniques?: readonly (readonly string[])[];
  /** Values that SQL computes from the columns of a row on every read. They are not stored. */
  readonly computed?: readonly ComputedColumn[];
  /** An existing table that other programs also write to. The store makes no table for this collection. */
  readonly existing?: ExistingTable;
  /**
   * Columns that are no longer declared, each with the month until which the operator needs its values:
   * `{ nickname: "2027-01" }`. No row shows the values. The table still stores them, also after that month, until a
   * migration with `--allow-data-loss` deletes them.
   */
  readonly removed?: Readonly<Record<string, string>>;
  /**
   * Set if this collection indexes lists of ids in the records of another collection. It has a row for each id in a
   * list, with two columns: the record and the id.
   */
  readonly links?: StoredLinks;
  /** Never set. It carries `V` for the type checker. */
  readonly typed?: V;
}

/** The column with the lists of ids for a many-to-many relation. */
export interface StoredLinks {
  readonly collection: string;
  /** A JSON column. */
  readonly column: string;
  /** The earlier name of the collection with the lists. */
  readonly was?: string;
}

/**
 * An existing table, made and maintained by another program. The store reads the named columns and writes those that it
 * may. It adds nothing to the table and stores nothing about it.
 */
export interface ExistingTable {
  /** The name. On PostgreSQL, it may include the schema: `shop.orders`. */
  readonly table: string;
  /** The real names of the columns, by their declared names, if they differ. `id` is the key. */
  readonly names: Readonly<Record<string, string>>;
  /** The writes that the store may do. */
  readonly writes: readonly TableWrite[];
  /** The columns that may be written, by their declared names. Default: all. */
  readonly written?: readonly string[];
  /**
   * The source of the revision of a row: an integer column that each write increments, the database's own value
   * (`xmin`), or a digest of the row.
   */
  readonly revision: "database" | "digest" | { readonly column: string };
  /** The form of the columns when the store was opened, by their declared names. Not part of a declaration. */
  readonly found?: Readonly<Record<string, FoundColumnForm>>;
  /**
   * The conditions on the key that an index can answer. `equality`: only equality. `nothing`: none. Left out: all.
   * Found at startup.
   */
  readonly served?: "equality" | "nothing";
  /**
   * The columns of each constraint, by the name of the constraint. Found at startup. The database reports a violated
   * constraint by its name.
   */
  readonly constraints?: Readonly<Record<string, string>>;
  /** The columns of each declared set that is unique, by the name of its index. Found at startup. */
  readonly sets?: Readonly<Record<string, readonly string[]>>;
}

/** The ways to write rows of an existing table. */
export type TableWrite = "create" | "update" | "delete";

/** The form in which a column of an existing table stores its values. */
export interface FoundColumnForm {
  /** The type, as the database spells it. */
  readonly storage: string;
  readonly nullable: boolean;
  /** True if the database provides a value when the write does not. */
  readonly filled: boolean;
  /** True if only the database writes this column. */
  readonly generated: boolean;
  /** The values of a database enumeration. */
  readonly words?: readonly string[];
  /** True if its texts are ordered by code point (PostgreSQL). */
  readonly byCodePoint?: boolean;
  /** True if different texts are equal, because the collation is not deterministic (PostgreSQL). */
  readonly isLoose?: boolean;
  /** The format of its date-times, if they are texts. */
  readonly shape?: DateTimeShape;
}

/**
 * The format of date-times in SQLite. `zulu`: as in `toISOString`. `spaced` and `T`: with a space or a T between date
 * and time. `in zone`: with `+00:00` at the end. `mixed`: several of these formats, or with `Z` and any number of
 * digits, or in another time zone.
 */
export type DateTimeShape = "mixed" | "zulu" | "spaced" | "spaced in zone" | "T" | "T in zone";

/**
 * A column. Its values are as in JSON: finite numbers for doubles, text for decimals (`"12.50"`) and date-times
 * (`2026-01-31T09:30:00.000Z`).
 */
export interface Column {
  readonly name: string;
  readonly type: "integer" | "text" | "boolean" | "decimal" | "double" | "date" | "date-time" | "json";
  readonly nullable?: boolean;
  /** `folded`: unique without regard to case. `findBy` and `eq` also compare it this way. */
  readonly unique?: boolean | "folded";
  /**
   * Stores a second, folded value (lower case), for `icontains` and `istarts`. A column that is `unique` as `folded`
   * always has it.
   */
  readonly folded?: true;
  /** A text whose words are indexed (`splitWords`). */
  readonly searched?: true;
  /** Set if the column has only a few different values, so that many rows have the same one. */
  readonly few?: true;
  /**
   * The conditions that an index on the column can answer. `equality`: only equality. `nothing`: none. Left out: all.
   * Only for columns of existing tables, found at startup.
   */
  readonly served?: "equality" | "nothing";
  /**
   * Set if its JSON may have repeated members: `{"a":1,"a":2}`. Only for columns of existing tables, found at startup.
   */
  readonly mayRepeat?: true;
  /** The number of decimal places of a decimal. */
  readonly scale?: number;
  /** The values of a decimal are numbers instead of texts, with at most fifteen digits. */
  readonly number?: true;
  /** The value that existing rows get when the column is added. */
  readonly default?: Value;
  readonly references?: { readonly collection: string; readonly onDelete: "cascade" | "restrict" };
  /** The rule for its values in addition to the type, as data. If it changes, the existing rows are checked. */
  readonly rule?: JSONValue;
  /** Returns true if a value satisfies the rule. */
  readonly fits?: (value: Value) => boolean;
  /** How a migration makes the values of existing rows, if the column is new or changed. */
  readonly origin?: Origin;
}

/**
 * A value that the database computes from the columns of a row. It is shown with the row. It cannot be written,
 * compared or sorted by.
 */
export interface ComputedColumn extends Column {
  /**
   * An SQL expression over the columns of the row, for one of the databases or for both. The author of the program
   * writes it.
   */
  readonly sql: SQLConversion;
}

/** How the values of a column are made when its table is migrated. */
export interface Origin {
  /** The earlier name of the column. */
  readonly renamedFrom?: string;
  /** Converts an old value that is not null, if the type, the name or the rule changes. */
  readonly convert?: ((old: Value) => Value) | SQLConversion;
  /** The value for rows without a value, if the column requires one: a value, or a function of the old row. */
  readonly backfill?: Value | ((row: StoredRecord) => Value);
}

/**
 * A conversion as an expression for each database, over the old columns: `{ sqlite: 'upper("title")', postgres:
 * 'upper("title")' }`.
 */
export interface SQLConversion {
  readonly sqlite?: string;
  readonly postgres?: string;
}

/** The key of a row: an integer from 1, or a text. */
export type Key = number | string;
/** A value of a column. Decimals are texts, and instants are RFC 3339 texts. */
export type Value = string | number | boolean | null | JSONValue;
/** A JSON value. */
export type JSONValue =
  | string
  | number
  | boolean
  | null
  | readonly JSONValue[]
  | { readonly [name: string]: JSONValue };

/** A record: the key as `id`, then the columns in the declared order. */
export type StoredRecord = Readonly<Record<string, Value>>;

/**
 * A record and its revision: a number that identifies one state of one row. `V` is the type of its columns, if it is
 * known.
 */
export interface Row<V = unknown> {
  readonly revision: number;
  readonly record: StoredRecord;
  /**
   * Never set. It carries `V` for the type checker. It is a method, so a store that does not know `V` may return its
   * rows as rows of any `V`.
   */
  typed?(record: V): void;
}

export type { Operator } from "../core/operators.ts";

/**
 * A condition for rows. `id` is a column like any other. `in` takes an array, `null` a boolean. Text is compared by
 * code point. `contains` and `starts` are case-sensitive. `icontains` and `istarts` are not, and need a folded column.
 * A comparison with a missing value is false, and `not` inverts this: each row matches either a condition or its `not`.
 */
export type Where<C extends string = string> =
  | { readonly column: C; readonly operator: Operator; readonly value: Value }
  /**
   * A word (`splitWords`) in one of the searched columns starts with this text. `few`: only a few rows match
   * (`countWords`), so the index of words is used. `waiting`: many new rows are not in the index yet and must be
   * scanned. `columns`: only a word in these columns counts.
   */
  | { readonly word: string; readonly few?: true; readonly waiting?: true; readonly columns?: readonly string[] }
  /**
   * Matches a row if the collection `link` has its id in the column `record`, together with one of `values` in the
   * column `linked`.
   */
  | { readonly link: Collection; readonly record: string; readonly linked: string; readonly values: readonly Key[] }
  /**
   * Matches a row if its column holds one of the values that the column `select` has in the rows of `collection` that
   * match `where`. Both columns are keys or references: integers or texts that are not compared as `folded`. A missing
   * value matches nothing, on both sides.
   */
  | { readonly column: C; readonly among: Among }
  | { readonly all: readonly Where<C>[] }
  | { readonly any: readonly Where<C>[] }
  | { readonly not: Where<C> };

/** A condition on the columns of the row itself. */
type OwnCondition =
  | { readonly column: string; readonly operator: Operator; readonly value: Value }
  | { readonly all: readonly OwnCondition[] }
  | { readonly any: readonly OwnCondition[] }
  | { readonly not: OwnCondition };

/**
 * A condition by which a permission narrows to rows. Only filters and searches have words and links. Other rows are not
 * within `not`, because a write can require them in its transaction, but not the lack of them.
 */
export type Narrowing =
  | OwnCondition
  | { readonly column: string; readonly among: Among }
  | { readonly all: readonly Narrowing[] }
  | { readonly any: readonly Narrowing[] };

/** The values of one column in the rows that match a condition. */
export interface Among {
  readonly collection: Collection;
  readonly select: string;
  readonly where: Where;
}
