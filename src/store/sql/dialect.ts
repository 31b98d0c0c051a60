import type { Collection, Column, FoundColumnForm } from "../store.ts";
import type { Cell } from "./cell.ts";
import type { Form } from "./existing/form.ts";
import type { CellRow, NamedRow, Statement } from "./schema/script.ts";

export type { Cell };

/** The values of a statement that is being written. */
export interface Parameters {
  readonly values: Cell[];
  /** Takes a value and gives the place where it stands: `$3`, or `?`, which is why places are asked for in the order of the text. */
  place(value: Cell): string;
}

/**
 * What is true of a database. Tables, conditions, lists, definitions and migrations follow from it, so that a driver
 * has but connections, transactions and feeds of its own.
 */
export interface Dialect {
  /** Which of the expressions that a declaration has for each database is for it. */
  readonly engine: "sqlite" | "postgres";
  /** The types that the database has itself. Without them booleans are 0 and 1, decimals whole numbers of their last digit, and JSON is text that is parsed here. */
  readonly ownTypes: ReadonlySet<Column["type"]>;
  /** Whether a text may have U+0000. */
  readonly holdsNUL: boolean;
  /** Names that are longer are cut off by the database, and two could become one. */
  readonly maxNameLength: number;
  /** Whether a limit stands in the text of a statement, and not among its parameters. */
  readonly limitInText: boolean;
  /** Written behind the type of a text column, so that its order is that of code points. */
  readonly collation: string;
  /** Whether a reference is defined with its column, and not when all tables are there. */
  readonly referencesInColumns: boolean;
  /** How the n-th parameter is written; the first is 1. */
  place(at: number): string;
  /** What stands behind the name of a table whose rows are found by their keys and by no other index; left out where the database sees that by itself. */
  readonly byKey?: (collection: Collection) => string;
  /** A condition that always holds and ends a read that takes too long; left out where the database does that by itself. */
  readonly watch?: string;
  /** A text as SQL. */
  literal(text: string): string;
  /** The type of a column, spelled as the database tells it. */
  storageOf(column: Column): string;
  /** What a new table says of its key behind the name, and behind the closing bracket. */
  defineKey(collection: Collection): { readonly key: string; readonly options: string };
  /** A column as it can be compared for equality. */
  comparable(column: Column, name: string): string;
  /** Whether what is compared is one of the cells. One parameter however many they are, so that the statement stays the same. */
  isOneOf(compared: string, cells: readonly Cell[], values: Parameters, operand?: (place: string) => string): string;
  /** Whether what is compared is among what is selected, which is few and is looked for by an index. */
  isAmong(compared: string, select: string): string;
  /** Whether what is compared is among what is selected to be changed: few rows, which nobody else is changing. */
  isSomeOf(compared: string, select: string): string;
  /** The same of all that is selected, whoever is changing it: they are waited for. */
  isLocked(compared: string, select: string): string;
  /** Whether a text has another in it, with regard to case. */
  contains(text: string, part: string): string;
  /** How a column of a table that was there before holds values of the declared kind; a sentence where it cannot. */
  formOf(column: Column, found: FoundColumnForm): Form | string;
  /** What an expression gives, as a column of such a table would hold it: SQL for its value, and the type of that. */
  made(column: Column, expression: string): { readonly sql: string; readonly storage: string };
  /** The type of an expression over a table, in one row; null where expressions have none. */
  typeOf(expression: string, table: string): string | null;
  /** The name of such a table. */
  quoteTable(table: string): string;
  /** SQL that ends a statement as a fault, with what `said` gives; of the type that the column has. */
  fail(said: string, column: Column): string;
  /** The number that a row of such a table has for its revision: what the database has for it, null where it has nothing, or a digest of some columns. */
  readonly revisionOf: { readonly database: string | null; digest(columns: readonly string[]): string };
  /** Some texts one behind another, what is no text turned into one. */
  joined(...parts: readonly string[]): string;
}

export function parametersOf(dialect: Dialect): Parameters {
  const values: Cell[] = [];
  return { values, place: (value) => dialect.place(values.push(value)) };
}

/** A statement that reads, and how its rows become a result. The rows come by name. */
export interface Read<Given> extends Statement {
  of(rows: readonly NamedRow[]): Given;
}

/** A read of records, whose rows come as cells. */
export interface CellsRead<Given> extends Statement {
  of(rows: readonly CellRow[]): Given;
}

/** Such a read; `write` gives its text. */
export function reading<Given>(
  dialect: Dialect,
  write: (values: Parameters) => string,
  of: Read<Given>["of"],
): Read<Given> {
  const values = parametersOf(dialect);
  return { text: write(values), values: values.values, of };
}
