import type { Collection, Column } from "../store.ts";
import { encode } from "./codec.ts";
import { indexNameOf, keyConstraintOf, literal, quote, referenceConstraintOf, shadowOf } from "./names.ts";

/** The statement that makes the table of a collection. References are added when all tables are there. */
export function createTable(collection: Collection): string {
  const lines = [
    `"id" ${keyWithCollation(collection)} CONSTRAINT ${quote(keyConstraintOf(collection))} PRIMARY KEY`,
    `"_revision" bigint NOT NULL`,
    ...collection.columns.map(defineColumn),
    ...collection.columns.filter(isFolded).map(defineShadow),
  ];
  return `CREATE TABLE ${quote(collection.name)} (\n  ${lines.join(",\n  ")}\n)`;
}

/** A column, as it stands in CREATE TABLE and ADD COLUMN. */
export function defineColumn(column: Column): string {
  const nullable = column.nullable === true ? "" : " NOT NULL";
  const fallback = column.default === undefined ? "" : ` DEFAULT ${defaultLiteral(column)}`;
  return `${quote(column.name)} ${storageOf(column)}${collationOf(column)}${nullable}${fallback}`;
}

/** The type of a column, spelled as PostgreSQL tells it. Date-times are text, which keeps and sorts them as they were written. */
export function storageOf({ type, scale }: Column): string {
  switch (type) {
    case "integer":
      return "bigint";
    case "text":
    case "date-time":
      return "text";
    case "boolean":
      return "boolean";
    case "decimal":
      return `numeric(19,${scale ?? 0})`;
    case "json":
      // Not jsonb, which forgets the order of members.
      return "json";
  }
}

/** The type of the key, without its collation. */
export function keyStorageOf({ key }: Collection): "bigint" | "text" {
  return key === "integer" ? "bigint" : "text";
}

/** The column beside a folded one. */
export function defineShadow(column: Column): string {
  return `${quote(shadowOf(column))} text COLLATE "C"`;
}

export function isFolded(column: Column): boolean {
  return column.unique === "folded";
}

/** The statement that adds a reference. */
export function addReference(collection: Collection, column: Column): string {
  const { collection: target, onDelete } = column.references!;
  return (
    `ALTER TABLE ${quote(collection.name)} ADD CONSTRAINT ${quote(referenceConstraintOf(collection, column))} ` +
    `FOREIGN KEY (${quote(column.name)}) REFERENCES ${quote(target)} ("id") ON DELETE ${onDelete.toUpperCase()}`
  );
}

/** The indexes of a collection: the statements that make them, by their names. */
export function indexesOf(
  collection: Collection,
): Map<string, { readonly sql: string; readonly unique: Column | null }> {
  const indexes = new Map<string, { readonly sql: string; readonly unique: Column | null }>();
  const add = (columns: readonly string[], unique: Column | null): void => {
    const name = indexNameOf(collection, columns, unique !== null);
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

/** A column's default as SQL; NULL where there is none. */
export function defaultLiteral(column: Column): string {
  const cell = column.default === undefined ? null : encode(column, column.default);
  if (cell === null) return "NULL";
  return typeof cell === "string" ? literal(cell) : String(cell);
}

function keyWithCollation(collection: Collection): string {
  return collection.key === "integer" ? "bigint" : `text COLLATE "C"`;
}

/** By code point, whatever the database's own order is. */
function collationOf(column: Column): string {
  return storageOf(column) === "text" ? ` COLLATE "C"` : "";
}
