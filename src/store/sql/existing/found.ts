import type { Collection, Column, ExistingTable, FoundColumnForm } from "../../store.ts";

/** An existing table, as it was found. */
export interface FoundExisting {
  /** False for a view, which has no rows itself. */
  readonly isTable: boolean;
  readonly columns: readonly FoundExistingColumn[];
  /** The columns of the key, in order. */
  readonly key: readonly string[];
  /** The columns of each unique constraint or index, by its name. */
  readonly uniques: ReadonlyMap<string, readonly string[]>;
  /**
   * Unique indexes over expressions or over some rows, by name, with their columns. Excludes an index with an
   * expression and several columns.
   */
  readonly narrowUniques: ReadonlyMap<string, readonly string[]>;
  /** Indexes over whole columns and all rows, in one direction. Includes the unique ones. */
  readonly indexes: readonly (readonly string[])[];
  readonly references: readonly FoundExistingReference[];
  /** True if a trigger sees each new row before its columns are checked. It may set their values. */
  readonly isFilledByTrigger: boolean;
  /** The column of each CHECK rule about one column, by the name of the rule. */
  readonly ruled?: ReadonlyMap<string, string>;
  /** The reason why its rows do not allow a resource. Set only when all tables are inspected. */
  readonly unserved?: string;
}

/** A column of an existing table. */
export interface FoundExistingColumn extends FoundColumnForm {
  readonly name: string;
  /** The maximum number of characters of a text. */
  readonly maxLength?: number;
  /** The text of CHECK rules about this column alone. */
  readonly checks?: readonly string[];
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

/** Returns the name of a column in its table. */
export function resolveRawName({ names }: ExistingTable, name: string): string {
  return Object.hasOwn(names, name) ? names[name]! : name;
}

/** Returns the key as a column. */
export function buildKeyColumn({ key, existing }: Collection): Column {
  const isUUID = existing?.found?.["id"]?.storage === "uuid";
  return { name: "id", type: key, ...(isUUID ? { rule: { kind: "uuid" } } : {}) };
}
