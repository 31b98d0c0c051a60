import { createHash } from "node:crypto";
import type { Collection, Column } from "../store.ts";
import type { Dialect } from "./dialect.ts";

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The column beside a `folded` one that keeps its folded value. Declared names begin with a letter, so it is free. */
export function shadowOf(dialect: Dialect, column: Column): string {
  return fitting(dialect, `_${column.name}_folded`);
}

/** The column beside a searched one that keeps its words. */
export function wordsColumnOf(dialect: Dialect, column: Column): string {
  return fitting(dialect, `_${column.name}_words`);
}

/** The table of the words of a collection. */
export function wordsTableOf(dialect: Dialect, { name }: Collection): string {
  return fitting(dialect, `_${name}_words`);
}

/** An index over columns. */
export function indexNameOf(
  dialect: Dialect,
  collection: Collection,
  columns: readonly string[],
  unique: boolean,
): string {
  return fitting(dialect, `${indexPrefix(collection, unique)}(${columns.join(", ")})`);
}

/** How the names of our indexes begin. An operator's own are left alone. */
export function indexPrefix({ name }: Collection, unique: boolean): string {
  return unique ? `unique ${name}` : name;
}

/** The name itself, or one that is short enough and nobody else's. */
export function fitting({ maxNameLength }: Dialect, name: string): string {
  if (name.length <= maxNameLength) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, maxNameLength - digest.length - 1)} ${digest}`;
}

/** Behind the names of indexes of a table that was made anew while others of these names were there. */
const again = " again";

/** Another name for an index, while the first one is taken. */
export function otherName(index: string): string {
  return `${index}${again}`;
}

/** The name of an index as it is declared. */
export function declaredName(index: string): string {
  return index.endsWith(again) ? index.slice(0, -again.length) : index;
}
