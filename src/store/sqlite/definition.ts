import type { Collection, Column } from "../store.ts";
import { encode } from "./codec.ts";
import { literal, quote, shadowOf } from "./table.ts";

/** The statement that makes the table of a collection, under its own name or another. */
export function createTable(collection: Collection, name = collection.name): string {
  const lines = [
    // Rows with text keys are kept in the order of their keys, which saves the second search.
    `"id" ${collection.key === "integer" ? "INTEGER PRIMARY KEY" : "TEXT NOT NULL PRIMARY KEY"}`,
    `"_revision" INTEGER NOT NULL`,
    ...collection.columns.map(defineColumn),
    ...collection.columns.filter(isFolded).map(defineShadow),
  ];
  return `CREATE TABLE ${quote(name)} (\n  ${lines.join(",\n  ")}\n) ${collection.key === "text" ? "WITHOUT ROWID, " : ""}STRICT`;
}

/** A column, as it stands in CREATE TABLE and ADD COLUMN. */
export function defineColumn(column: Column): string {
  const { references } = column;
  return [
    `${quote(column.name)} ${storageOf(column)}`,
    column.nullable === true ? "" : " NOT NULL",
    column.default === undefined ? "" : ` DEFAULT ${defaultLiteral(column)}`,
    references === undefined
      ? ""
      : ` REFERENCES ${quote(references.collection)} ("id") ON DELETE ${references.onDelete.toUpperCase()}`,
  ].join("");
}

/** How SQLite keeps a column: decimals as whole numbers of their last digit, booleans as 0 and 1. */
export function storageOf({ type }: Column): "INTEGER" | "TEXT" {
  return type === "integer" || type === "boolean" || type === "decimal" ? "INTEGER" : "TEXT";
}

/** The column beside a folded one. */
export function defineShadow(column: Column): string {
  return `${quote(shadowOf(column))} TEXT`;
}

export function isFolded(column: Column): boolean {
  return column.unique === "folded";
}

/** The indexes of a collection: the statements that make them, by their names. */
export function indexesOf(
  collection: Collection,
): Map<string, { readonly sql: string; readonly unique: Column | null }> {
  const indexes = new Map<string, { readonly sql: string; readonly unique: Column | null }>();
  const add = (columns: readonly string[], unique: Column | null): void => {
    const name = `${indexPrefix(collection, unique !== null)}(${columns.join(", ")})`;
    const on = `${quote(collection.name)} (${columns.map(quote).join(", ")})`;
    indexes.set(name, { sql: `CREATE ${unique === null ? "" : "UNIQUE "}INDEX ${quote(name)} ON ${on}`, unique });
  };
  for (const column of collection.columns) {
    if (isFolded(column)) add([shadowOf(column)], column);
    else if (column.unique === true) add([column.name], column);
  }
  for (const columns of collection.indexes ?? []) add(columns, null);
  for (const column of collection.columns) {
    // Deleting what is referred to has to find those that refer.
    const covered = column.unique === true || (collection.indexes ?? []).some((columns) => columns[0] === column.name);
    if (column.references !== undefined && !covered) add([column.name], null);
  }
  return indexes;
}

/** How the names of our indexes begin. An operator's own are left alone. */
export function indexPrefix({ name }: Collection, unique: boolean): string {
  return unique ? `unique ${name}` : name;
}

function defaultLiteral(column: Column): string {
  const cell = encode(column, column.default);
  if (cell === null) return "NULL";
  return typeof cell === "string" ? literal(cell) : String(cell);
}
