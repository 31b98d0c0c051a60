import type { Collection, ComputedColumn, FoundColumnForm } from "../../store.ts";
import type { Dialect } from "../language/dialect.ts";
import { quote } from "../language/names.ts";
import type { Checked } from "./checked.ts";

/** A computed column with its SQL. */
export interface Computing extends Checked {
  readonly column: ComputedColumn;
  /** Its value, as SQL over the columns of a row. */
  readonly sql: string;
}

/**
 * Returns the computed columns of a collection. A missing expression for this database is reported when the store is
 * opened.
 */
export function collectComputed(dialect: Dialect, collection: Collection): readonly Computing[] {
  return (collection.computed ?? []).map((column) => {
    const { sql, storage } = dialect.made(column, column.sql[dialect.engine] ?? "NULL");
    const form = dialect.chooseForm(column, { ...anything, storage });
    if (typeof form === "string") throw new TypeError(`The computed column ${column.name} ${form}`);
    const [place, field] = [`the value computed by SQL`, `${collection.name}.${column.name}`];
    return { column, form, isNullable: true, place, field, sql: withNumbers(dialect, collection, sql) };
  });
}

const anything: Omit<FoundColumnForm, "storage"> = { nullable: true, filled: false, generated: true, shape: "zulu" };

/** Returns the table to read from, with the computed columns added. Databases still use the indexes of the table. */
export function compileSource(dialect: Dialect, collection: Collection, name: string): string {
  const computing = collectComputed(dialect, collection);
  if (computing.length === 0) return name;
  const made = computing.map(({ sql, column }) => `${sql} AS ${quote(column.name)}`);
  return `(SELECT *, ${made.join(", ")} FROM ${name}) AS ${quote(collection.name)}`;
}

/**
 * Returns the columns as the author of an expression uses them. A decimal is a number there, even if the database
 * stores it as a scaled integer (12.30 as 1230).
 */
export function seenColumns(dialect: Dialect, { columns, existing }: Collection): readonly string[] {
  return columns.map(({ name, type, scale = 0 }) => {
    const isUnits = existing === undefined && type === "decimal" && !dialect.ownTypes.has(type);
    return isUnits ? `(${quote(name)} / 1${"0".repeat(scale)}.0) AS ${quote(name)}` : quote(name);
  });
}

function withNumbers(dialect: Dialect, collection: Collection, sql: string): string {
  const numbers = seenColumns(dialect, collection).filter((seen) => seen.startsWith("("));
  return numbers.length === 0 ? sql : `(SELECT ${sql} FROM (SELECT ${numbers.join(", ")}))`;
}
