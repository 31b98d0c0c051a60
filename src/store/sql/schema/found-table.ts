import { valueOfJSON } from "../../../core/exact-numbers.ts";
import type { Collection } from "../../store.ts";
import { quote } from "../language/names.ts";
import { ask, statement, type Script } from "../language/script.ts";
import type { FoundTable, FoundColumn, FoundReference, SchemaDialect } from "./schema.ts";

/** Returns the current table of a collection. Returns null if it does not exist. */
export function* findTable(schema: SchemaDialect, { name }: Collection): Script<FoundTable | null> {
  const rows = yield* ask(schema.findColumns(name));
  if (rows.length === 0) return null;
  const columns = rows.map((row): FoundColumn => ({
    name: row["name"] as string,
    storage: row["storage"] as string,
    nullable: Boolean(row["nullable"]),
    hasDefault: Boolean(row["has_default"]),
    isKey: Boolean(row["is_key"]),
  }));
  const remembered = `SELECT types, declaration FROM latchkey_schema WHERE collection = ${schema.place(1)}`;
  const [stored] = yield* ask(statement(remembered, [name]));
  const declaration = stored?.["declaration"];
  return {
    columns: new Map(columns.map((column) => [column.name, column])),
    references: yield* findReferences(schema, name),
    types: readTypes(stored?.["types"]),
    declared: typeof declaration === "string" ? (valueOfJSON(declaration) as Collection) : null,
    rows: (yield* ask(statement(`SELECT 1 FROM ${quote(name)} LIMIT 1`))).length > 0,
  };
}

/** Returns the references of a table by column. */
export function* findReferences(schema: SchemaDialect, table: string): Script<ReadonlyMap<string, FoundReference>> {
  const rows = yield* ask(schema.findReferences(table));
  return new Map(
    rows.map(({ column, target, on_delete: onDelete, constraint }) => [
      column as string,
      { target: `${String(target)} ${String(onDelete)}`, constraint: constraint as string | null },
    ]),
  );
}

/** Returns the stored types of the columns of a table, including columns that are no longer declared. */
export function readTypes(remembered: unknown): Readonly<Record<string, string>> {
  return (typeof remembered === "string" ? valueOfJSON(remembered) : (remembered ?? {})) as Record<string, string>;
}

/**
 * Returns the columns that are no longer declared. Columns whose names start with an underscore belong to the store and
 * are not included.
 */
export function leftOvers(collection: Collection, found: FoundTable): FoundColumn[] {
  const declared = new Set(["id", ...collection.columns.map((column) => column.name)]);
  return [...found.columns.values()].filter(({ name }) => !declared.has(name) && !name.startsWith("_"));
}

/** Returns the undeclared columns that need a value in every new row. */
export function requiredLeftOvers(collection: Collection, found: FoundTable): FoundColumn[] {
  return leftOvers(collection, found).filter((column) => !column.nullable && !column.hasDefault);
}

/** Returns the undeclared columns that refer to other rows, and would prevent the deletion of these rows. */
export function referringLeftOvers(collection: Collection, found: FoundTable): FoundColumn[] {
  return leftOvers(collection, found).filter(({ name }) => found.references.has(name));
}

/** Returns true if this store created the table. */
export function isOurs({ columns }: FoundTable): boolean {
  return columns.get("id")?.isKey === true && columns.has("_revision");
}
