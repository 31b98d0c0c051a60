import type { Collection, Column, ExistingTable, FoundColumnForm } from "../../store.ts";

/** An existing table, as it was found in the database. */
export interface FoundExisting {
  /** False for a view, which has no rows itself. */
  readonly isTable: boolean;
  /** True for a foreign table. `isTable` is then false, because its rows are in another database. */
  readonly isForeign?: boolean;
  /** The tables that inherit from it, if there are any. Its key is then not unique. */
  readonly heirs?: readonly string[];
  readonly columns: readonly FoundExistingColumn[];
  /** The columns of the key, in order. */
  readonly key: readonly string[];
  /** The columns of each unique constraint or index, by its name. */
  readonly uniques: ReadonlyMap<string, readonly string[]>;
  /**
   * The columns of each unique index over an expression or over only some rows, by the name of the index. Does not
   * include an index with an expression over several columns.
   */
  readonly narrowUniques: ReadonlyMap<string, readonly string[]>;
  /** The columns of each index over whole columns and all rows, with one direction for all columns. Unique or not. */
  readonly indexes: readonly (readonly string[])[];
  readonly references: readonly FoundExistingReference[];
  /** True if a trigger runs before a new row is checked. It may set values of the row. */
  readonly isFilledByTrigger: boolean;
  /** The column of each CHECK constraint that uses one column, by the name of the constraint. */
  readonly ruled?: ReadonlyMap<string, string>;
  /** The reason why the table cannot be a resource. Set only if the whole database is inspected. */
  readonly unserved?: string;
}

/** A column of an existing table. */
export interface FoundExistingColumn extends FoundColumnForm {
  readonly name: string;
  /** The maximum number of characters of a text. */
  readonly maxLength?: number;
  /** The SQL of the CHECK constraints that use only this column. */
  readonly checks?: readonly string[];
  /** The types that its first rows do not fit (SQLite). Set only if the whole database is inspected. */
  readonly misfits?: ReadonlySet<Column["type"]>;
}

/** A reference from columns of an existing table to another table. */
export interface FoundExistingReference {
  readonly constraint: string | null;
  readonly columns: readonly string[];
  readonly table: string;
  /** The referenced columns of that table. */
  readonly to: readonly string[];
  readonly onDelete: "cascade" | "restrict" | "null";
}

/** Returns SQL for a key as text, because a number above 2^53 would lose digits. */
export function shownKeySQL(key: string): string {
  return `CAST(${key} AS text)`;
}

/**
 * Returns the reason why a table with tables that inherit from it cannot be a resource. Returns null if it has none.
 */
export function inheritedFrom(table: string, { heirs }: FoundExisting): string | null {
  if (heirs === undefined) return null;
  const few = heirs.length > 3 ? [...heirs.slice(0, 3), "…"] : heirs;
  return `the rows of ${few.join(", ")}, which inherit from it, also count as its rows, and no key covers them; serve a view of its own rows (SELECT * FROM ONLY ${table}), or end the inheritance (ALTER TABLE … NO INHERIT ${table})`;
}

/** Returns the reason why a table with this smallest key cannot be a resource. Returns null if it can. */
export function unservedFor(least: unknown): string | null {
  return least === null || Number(least) >= 1
    ? null
    : `it has a row with the key ${String(least)}, and ids are whole numbers from 1; serve a view without it`;
}

/** Returns the key of a table if it is one column of whole numbers. Returns null otherwise. */
export function findCountedKey({ isTable, key, columns }: FoundExisting): string | null {
  const [only] = key;
  const storage = columns.find(({ name }) => name === only)?.storage ?? "";
  return isTable && key.length === 1 && /int/i.test(storage) && !/interval/i.test(storage) ? only! : null;
}

/** Returns the name that a column of the collection has in the existing table. */
export function resolveRawName({ names }: ExistingTable, name: string): string {
  return Object.hasOwn(names, name) ? names[name]! : name;
}

/** Returns the key of a collection as a column with the name `id`. */
export function buildKeyColumn({ key, existing }: Collection): Column {
  const isUUID = existing?.found?.["id"]?.storage === "uuid";
  return { name: "id", type: key, ...(isUUID ? { rule: { format: "uuid" } } : {}) };
}
