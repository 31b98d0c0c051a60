import type { Collection, Column, ExistingTable, FoundColumnForm } from "../../store.ts";

/** A table that was there before, as it was found. */
export interface FoundExisting {
  /** A view has no rows of its own. */
  readonly isTable: boolean;
  readonly columns: readonly FoundExistingColumn[];
  /** The columns of the key, in their order. */
  readonly key: readonly string[];
  /** What is unique, by the name of the constraint or the index: its columns. */
  readonly uniques: ReadonlyMap<string, readonly string[]>;
  /** Unique indexes over expressions or over some rows, by name: their columns. An index is left out if it has an expression and several columns. */
  readonly narrowUniques: ReadonlyMap<string, readonly string[]>;
  /** Indexes over whole columns and all rows, in one direction; the unique ones too. */
  readonly indexes: readonly (readonly string[])[];
  readonly references: readonly FoundExistingReference[];
  /** A trigger sees each new row before its columns are looked at, and may give them values. */
  readonly isFilledByTrigger: boolean;
  /** The columns of rules of their own (CHECK) by the names of these, where a rule is about one column. */
  readonly ruled?: ReadonlyMap<string, string>;
  /** Why no resource can be kept in it, as its rows tell; only said where all tables are looked at. */
  readonly unserved?: string;
}

/** One of its columns. */
export interface FoundExistingColumn extends FoundColumnForm {
  readonly name: string;
  /** The most characters of a text. */
  readonly maxLength?: number;
  /** What a CHECK of this column alone says, as it is written. */
  readonly checks?: readonly string[];
}

/** A reference of one of its columns to a table. */
export interface FoundExistingReference {
  readonly constraint: string | null;
  readonly columns: readonly string[];
  readonly table: string;
  /** The columns of that table. */
  readonly to: readonly string[];
  readonly onDelete: "cascade" | "restrict" | "null";
}

/** SQL that gives a key as text: a number beyond 2^53 would come as another one. */
export function shownKeySQL(key: string): string {
  return `CAST(${key} AS text)`;
}

/** Why no resource is kept in a table whose least key is this; null where one can be. */
export function unservedFor(least: unknown): string | null {
  return least === null || Number(least) >= 1
    ? null
    : `it has a row with the key ${String(least)}, and ids are whole numbers from 1; serve a view without it`;
}

/** The key of a table where it is one column of whole numbers; null where it is another. */
export function countedKeyOf({ isTable, key, columns }: FoundExisting): string | null {
  const [only] = key;
  const storage = columns.find(({ name }) => name === only)?.storage ?? "";
  return isTable && key.length === 1 && /int/i.test(storage) && !/interval/i.test(storage) ? only! : null;
}

/** What a column is called in its table. */
export function rawNameOf({ names }: ExistingTable, name: string): string {
  return Object.hasOwn(names, name) ? names[name]! : name;
}

/** The key as a column. */
export function keyColumnOf({ key, existing }: Collection): Column {
  const isUUID = existing?.found?.["id"]?.storage === "uuid";
  return { name: "id", type: key, ...(isUUID ? { rule: { kind: "uuid" } } : {}) };
}
