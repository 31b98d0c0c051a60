import { createHash } from "node:crypto";
import type { Collection, Column } from "../store.ts";

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as SQL. */
export function literal(text: string): string {
  const plain = text.replaceAll("'", "''");
  return text.includes("\\") ? ` E'${plain.replaceAll("\\", "\\\\")}'` : `'${plain}'`;
}

/** The column beside a `folded` one that keeps its folded value. Declared names begin with a letter, so it is free. */
export function shadowOf(column: Column): string {
  return fitting(`_${column.name}_folded`);
}

/** The sequence that hands out the keys of a collection. */
export function sequenceOf({ name }: Collection): string {
  return fitting(`${name}(id) next`);
}

/** The constraint of the key. */
export function keyConstraintOf({ name }: Collection): string {
  return fitting(`key ${name}`);
}

/** The constraint of a reference. */
export function referenceConstraintOf({ name }: Collection, column: Column): string {
  return fitting(`reference ${name}(${column.name})`);
}

/** An index over columns. */
export function indexNameOf(collection: Collection, columns: readonly string[], unique: boolean): string {
  return fitting(`${indexPrefix(collection, unique)}(${columns.join(", ")})`);
}

/** How the names of our indexes begin. An operator's own are left alone. */
export function indexPrefix({ name }: Collection, unique: boolean): string {
  return unique ? `unique ${name}` : name;
}

const maxNameBytes = 63;

/** PostgreSQL cuts off what is longer, and two names could become one. */
function fitting(name: string): string {
  if (name.length <= maxNameBytes) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, maxNameBytes - digest.length - 1)} ${digest}`;
}
