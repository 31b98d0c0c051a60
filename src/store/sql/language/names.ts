import { createHash } from "node:crypto";
import type { Collection, Column } from "../../store.ts";
import type { Dialect } from "./dialect.ts";

/** Quotes a name for SQL. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * Returns the name of the column with the folded value of a `folded` column. It starts with an underscore. No declared
 * name does.
 */
export function formatShadowName(dialect: Dialect, column: Column): string {
  return fitting(dialect, `_${column.name}_folded`);
}

/** Returns the name of the column with the words of a searched column. */
export function formatWordsColumn(dialect: Dialect, column: Column): string {
  return fitting(dialect, `_${column.name}_words`);
}

/** Returns the name of the table of the words of a collection. */
export function formatWordsTable(dialect: Dialect, { name }: Collection): string {
  return fitting(dialect, `_${name}_words`);
}

/** Returns the name of an index over columns. */
export function formatIndexName(
  dialect: Dialect,
  collection: Collection,
  columns: readonly string[],
  unique: boolean,
): string {
  return fitting(dialect, `${indexPrefix(collection, unique)}(${columns.join(", ")})`);
}

/** Returns the start of the names of the store's own indexes. Other indexes belong to the operator and stay. */
export function indexPrefix({ name }: Collection, unique: boolean): string {
  return unique ? `unique ${name}` : name;
}

/** Returns the name itself, or a unique shorter one if it is too long. */
export function fitting({ maxNameLength }: Dialect, name: string): string {
  if (name.length <= maxNameLength) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, maxNameLength - digest.length - 1)} ${digest}`;
}

/** The suffix of the indexes of a rebuilt table, until the old indexes release their names. */
const again = " again";

/** Returns a second name for an index whose name is still taken. */
export function otherName(index: string): string {
  return `${index}${again}`;
}

/** Returns the name of an index without the suffix of a rebuilt table. */
export function declaredName(index: string): string {
  return index.endsWith(again) ? index.slice(0, -again.length) : index;
}
