import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "../store.ts";
import { prepare } from "./connection.ts";
import { quote } from "./table.ts";

/** A table as it is. */
export interface Found {
  readonly columns: ReadonlyMap<string, FoundColumn>;
  /** What the columns were declared as, by name: `decimal(2)`. Also those that are declared no more. */
  readonly types: Readonly<Record<string, string>>;
  readonly rows: boolean;
}

/** A column as it is. */
export interface FoundColumn {
  readonly name: string;
  readonly storage: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  readonly isKey: boolean;
  /** As SQL; empty where there is none. */
  readonly references: string;
}

/** The table of a collection as it is; null where there is none. */
export function findTable(database: DatabaseSync, { name }: Collection): Found | null {
  const columns = prepare(
    database,
    `SELECT name, type, "notnull", dflt_value IS NOT NULL, pk FROM pragma_table_info(?)`,
  ).all(name);
  if (columns.length === 0) return null;
  const references = new Map(
    prepare(database, `SELECT "from", "table", on_delete FROM pragma_foreign_key_list(?)`)
      .all(name)
      .map(([from, table, onDelete]) => [from, `${String(table)} ${String(onDelete)}`]),
  );
  const types = prepare(database, "SELECT types FROM latchkey_schema WHERE collection = ?").get(name)?.[0] as
    | string
    | undefined;
  return {
    columns: new Map(
      columns.map(([column, storage, notNull, hasDefault, key]) => [
        column as string,
        {
          name: column as string,
          storage: storage as string,
          nullable: notNull === 0,
          hasDefault: hasDefault === 1,
          isKey: key !== 0,
          references: references.get(column) ?? "",
        },
      ]),
    ),
    types: types === undefined ? {} : (JSON.parse(types) as Record<string, string>),
    rows: prepare(database, `SELECT 1 FROM ${quote(name)} LIMIT 1`).get() !== undefined,
  };
}

/** The columns that are declared no more. Those with an underscore are ours. */
export function leftOvers(collection: Collection, found: Found): FoundColumn[] {
  const declared = new Set(["id", ...collection.columns.map((column) => column.name)]);
  return [...found.columns.values()].filter(({ name }) => !declared.has(name) && !name.startsWith("_"));
}

/** Those of them without which no row can be made. */
export function requiredLeftOvers(collection: Collection, found: Found): FoundColumn[] {
  return leftOvers(collection, found).filter((column) => !column.nullable && !column.hasDefault);
}
