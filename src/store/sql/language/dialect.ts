import type { Collection, Column, FoundColumnForm } from "../../store.ts";
import type { Form } from "./form.ts";
import type { Cell, CellRow, NamedRow, Statement } from "./script.ts";

export type { Cell };

/** The values of a statement while it is being written. */
export interface BoundValues {
  readonly values: Cell[];
  /**
   * Adds a value and returns its placeholder: `$3`, or `?`. The calls must have the order of the placeholders in the
   * text, because `?` has no number.
   */
  place(value: Cell): string;
}

/**
 * The properties of a database. Tables, conditions, lists, definitions and migrations are derived from them. A driver
 * adds only connections, transactions and feeds.
 */
export interface Dialect {
  /** Selects the expression for this database in a declaration. */
  readonly engine: "sqlite" | "postgres";
  /**
   * The types that the database supports. The other types are stored in these forms: a boolean as 0 or 1, a decimal as
   * an integer (12.30 as 1230), and JSON as text.
   */
  readonly ownTypes: ReadonlySet<Column["type"]>;
  /** True if a text may contain U+0000. */
  readonly holdsNUL: boolean;
  /** The maximum length of a name. The database cuts off longer names, so two names could become the same. */
  readonly maxNameLength: number;
  /**
   * True if a limit is written into the text of a statement and is not a parameter. SQLite prepares a statement again
   * for each value of such a parameter.
   */
  readonly limitInText: boolean;
  /** The SQL after the type of a text column, which sorts the column by code point. */
  readonly collation: string;
  /** True if a reference is defined with its column. False if it is added when all tables exist. */
  readonly referencesInColumns: boolean;
  /** Returns the n-th parameter as SQL. The first is 1. */
  place(at: number): string;
  /**
   * Returns SQL that follows the name of a table. It makes the database find rows by their key and not by another
   * index. Undefined if the database chooses the key by itself.
   */
  readonly byKey?: (collection: Collection) => string;
  /**
   * A condition that is always true and ends a read that takes too long. Undefined if the database does that by itself.
   */
  readonly watch?: string;
  /** Returns a text as SQL. */
  literal(text: string): string;
  /** Returns the type of a column, spelled as the database reports it. */
  compileStorage(column: Column): string;
  /** Returns the definition of the key in a new table, and the options after the closing parenthesis. */
  defineKey(collection: Collection): { readonly key: string; readonly options: string };
  /** Returns a column in a form that can be compared for equality. */
  comparable(column: Column, name: string): string;
  /**
   * Returns the condition that a value is one of the cells. Uses one parameter for any number of cells, so that the
   * text of the statement stays the same.
   */
  isOneOf(compared: string, cells: readonly Cell[], values: BoundValues, operand?: (place: string) => string): string;
  /**
   * Returns the condition that a value is among the results of `select`. There are only a few results, and an index
   * finds their rows.
   */
  isAmong(compared: string, select: string): string;
  /**
   * Returns the condition that a row is among the few rows of `select`. Skips rows that another transaction is
   * changing.
   */
  isSomeOf(compared: string, select: string): string;
  /**
   * Returns the condition that a row is among the few rows of `select`. Waits for transactions that are changing these
   * rows.
   */
  isLocked(compared: string, select: string): string;
  /** Returns the condition that a text contains another text. Case matters. */
  contains(text: string, part: string): string;
  /**
   * Returns the form in which a column of an existing table stores the values of the declared column. Returns a
   * sentence with the reason if it cannot store them.
   */
  chooseForm(column: Column, found: FoundColumnForm): Form | string;
  /** Returns SQL that evaluates an expression for this column, and the type of its result. */
  made(column: Column, expression: string): { readonly sql: string; readonly storage: string };
  /**
   * Returns a query for the type of an expression over a table. Its result is one row. Returns null if expressions have
   * no type in this database.
   */
  compileTypeQuery(expression: string, table: string): string | null;
  /** Returns the quoted name of an existing table. */
  quoteTable(table: string): string;
  /** Returns SQL that makes the statement fail with the text of another SQL. The type is that of the column. */
  fail(message: string, column: Column): string;
  /**
   * The SQL for the revision of a row in an existing table. `database` is the number that the database stores for each
   * row, or null if it stores none. `digest` returns a digest of some columns.
   */
  readonly revisionSQL: { readonly database: string | null; digest(columns: readonly string[]): string };
  /** Returns SQL that joins some texts. Other values are converted to text. */
  joined(...parts: readonly string[]): string;
}

/** Creates an empty list of values for a statement. */
export function createParameters(dialect: Dialect): BoundValues {
  const values: Cell[] = [];
  return { values, place: (value) => dialect.place(values.push(value)) };
}

/** Returns the SQL of a limit, as a text or as a parameter. Throws a TypeError if it is no number of rows. */
export function placeLimit({ limitInText }: Dialect, limit: number, values: BoundValues): string {
  if (!Number.isSafeInteger(limit) || limit < 0) throw new TypeError(`A limit of ${limit} is no number of rows`);
  return limitInText ? String(limit) : values.place(limit);
}

/** A statement that reads, and the function that turns its rows into a result. The rows have named columns. */
export interface ReadStatement<Given> extends Statement {
  of(rows: readonly NamedRow[]): Given;
}

/** A read of records. Its rows come as cells. */
export interface CellsRead<Given> extends Statement {
  of(rows: readonly CellRow[]): Given;
}

/** Creates a statement that reads. `write` returns its SQL. `of` turns its rows into the result. */
export function reading<Given>(
  dialect: Dialect,
  write: (values: BoundValues) => string,
  of: ReadStatement<Given>["of"],
): ReadStatement<Given> {
  const values = createParameters(dialect);
  return { text: write(values), values: values.values, of };
}
