import { isFolded } from "../../fold.ts";
import { isSearched } from "../../searched.ts";
import type { Collection, Column } from "../../store.ts";
import { encode } from "../language/codec.ts";
import type { Dialect } from "../language/dialect.ts";
import { formatIndexName, quote, formatShadowName, formatWordsColumn } from "../language/names.ts";

/** Returns the statement that creates the table of a collection, with the name of the collection or another name. */
export function createTable(dialect: Dialect, collection: Collection, name = collection.name): string {
  const { key, options } = dialect.defineKey(collection);
  const lines = [
    `"id" ${key}`,
    `"_revision" ${dialect.compileStorage({ name: "_revision", type: "integer" })} NOT NULL`,
    ...collection.columns.map((column) => defineColumn(dialect, column)),
    ...collectShadows(dialect, collection).map((shadow) => defineColumn(dialect, shadow)),
  ];
  return `CREATE TABLE ${quote(name)} (\n  ${lines.join(",\n  ")}\n)${options}`;
}

/** Returns the SQL of a column for CREATE TABLE and ADD COLUMN. */
export function defineColumn(dialect: Dialect, column: Column): string {
  const { name, nullable, references } = column;
  return [
    `${quote(name)} ${typeWithOrder(dialect, column)}`,
    nullable === true ? "" : " NOT NULL",
    column.default === undefined ? "" : ` DEFAULT ${defaultLiteral(dialect, column)}`,
    references === undefined || !dialect.referencesInColumns ? "" : ` ${defineReference(references)}`,
  ].join("");
}

/** Returns the columns with derived values: folded values and words. They are texts that may be null. */
export function collectShadows(dialect: Dialect, { columns }: Collection): readonly Column[] {
  const names = [
    ...columns.filter(isFolded).map((column) => formatShadowName(dialect, column)),
    ...columns.filter(isSearched).map((column) => formatWordsColumn(dialect, column)),
  ];
  return names.map((name) => ({ name, type: "text", nullable: true }));
}

/** Returns the SQL of a reference, with its action on delete. */
export function defineReference({ collection, onDelete }: NonNullable<Column["references"]>): string {
  return `REFERENCES ${quote(collection)} ("id") ON DELETE ${onDelete.toUpperCase()}`;
}

/** An index: the statement that creates it, and the columns that it keeps unique together. */
export interface Index {
  readonly sql: string;
  readonly unique: readonly Column[] | null;
  readonly columns: readonly string[];
  /** The column whose folded values it contains. Null for other indexes. */
  readonly folds: Column | null;
}

/** Returns the indexes of a collection by name. */
export function collectIndexes(dialect: Dialect, collection: Collection): ReadonlyMap<string, Index> {
  const indexes = new Map<string, Index>();
  const add = (columns: readonly string[], unique: readonly Column[] | null, folds: Column | null = null): void => {
    const name = formatIndexName(dialect, collection, columns, unique !== null);
    const on = `${quote(collection.name)} (${columns.map(quote).join(", ")})`;
    indexes.set(name, {
      sql: `CREATE ${unique === null ? "" : "UNIQUE "}INDEX ${quote(name)} ON ${on}`,
      unique,
      columns,
      folds,
    });
  };
  for (const column of collection.columns) {
    if (column.unique === "folded") add([formatShadowName(dialect, column)], [column], column);
    else if (column.unique === true) add([column.name], [column]);
    if (column.folded === true && column.unique !== "folded")
      add([formatShadowName(dialect, column), "id"], null, column);
  }
  for (const set of collection.uniques ?? [])
    add(
      set,
      set.map((name) => collection.columns.find((column) => column.name === name)!),
    );
  for (const columns of collection.indexes ?? []) add(columns, null);
  for (const column of collection.columns) {
    // An index on the reference lets a delete find the rows that refer to the deleted one.
    const covered = column.unique === true || (collection.indexes ?? []).some((columns) => columns[0] === column.name);
    if (column.references !== undefined && !covered) add([column.name], null);
  }
  return indexes;
}

/** Returns a column's default as SQL. Returns `NULL` if there is none. */
export function defaultLiteral(dialect: Dialect, column: Column): string {
  const cell = column.default === undefined ? null : encode(dialect, column, column.default);
  if (cell === null) return "NULL";
  return typeof cell === "string" ? dialect.literal(cell) : String(cell);
}

/** Returns the declared type of a column as text, for example `decimal(2)`. */
export function formatType({ type, scale }: Column): string {
  return type === "decimal" ? `decimal(${scale ?? 0})` : type;
}

/** Returns the declared types of all columns, by name. */
export function collectTypes({ columns }: Collection): Readonly<Record<string, string>> {
  return Object.fromEntries(columns.map((column) => [column.name, formatType(column)]));
}

function typeWithOrder({ compileStorage, collation }: Dialect, column: Column): string {
  const isText = column.type === "text" || column.type === "date" || column.type === "date-time";
  return compileStorage(column) + (isText ? collation : "");
}
