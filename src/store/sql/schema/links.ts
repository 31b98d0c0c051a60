import { valueOfJSON } from "../../../core/exact-numbers.ts";
import type { Collection, Column, StoredLinks } from "../../store.ts";
import { quote } from "../language/names.ts";
import { ask, run, statement, type Script } from "../language/script.ts";
import { findTable } from "./found-table.ts";
import type { SchemaDialect } from "./schema.ts";

/**
 * Fills a new table of a relation with the ids from the lists in the records. The lists exist already if the field was
 * renamed or derived from another field. Deletes the table of the old name, because its references would still prevent
 * deletions.
 */
export function* fillLinks(schema: SchemaDialect, collection: Collection): Script<void> {
  const { links } = collection;
  if (links === undefined) return;
  const there = yield* ask(schema.findColumns(links.collection));
  // The column does not exist yet and has no lists.
  if (!there.some(({ name }) => name === links.column)) return;
  for (const sql of schema.insertLinks(collection, links)) yield* run(sql);
  const [record] = collection.columns;
  const before = links.was === undefined ? null : yield* findTable(schema, { ...collection, name: links.was });
  if (before?.declared?.columns[0]?.name !== record!.name) return;
  yield* run(`DROP TABLE ${quote(links.was!)}`);
  yield* ask(statement(`DELETE FROM latchkey_schema WHERE collection = ${schema.place(1)}`, [links.was!]));
}

/**
 * Returns the tables of relations whose field is no longer declared. They are returned without the references that
 * prevent deletions. Processes that started earlier still write to them. Leaves out the table of a renamed field,
 * because `fillLinks` replaces it.
 */
export function* forgottenLinks(schema: SchemaDialect, declared: readonly Collection[]): Script<readonly Collection[]> {
  const owners = new Map(declared.map((each) => [each.name, each]));
  const renamed = new Set(declared.map(({ links }) => links?.was));
  const rows = yield* ask(statement("SELECT declaration FROM latchkey_schema"));
  const forgotten: Collection[] = [];
  for (const { declaration } of rows) {
    const stored = valueOfJSON(String(declaration)) as Collection;
    const owner = owners.get(stored.links?.collection ?? "");
    if (owner === undefined || owners.has(stored.name) || renamed.has(stored.name)) continue;
    if (owner.columns.some((column) => column.name === stored.links!.column && isList(column))) continue;
    if ((yield* ask(schema.findColumns(stored.name))).length === 0) continue;
    const columns = stored.columns.map(({ references, ...column }) =>
      references?.onDelete === "cascade" ? { ...column, references } : column,
    );
    forgotten.push({ ...stored, columns });
  }
  return forgotten;
}

/** Returns true if a column holds the ids of a relation. The relation may be declared in another resource. */
function isList({ rule }: Column): boolean {
  return typeof rule === "object" && rule !== null && "kind" in rule && rule["kind"] === "references";
}

/**
 * Returns the tables of `forgottenLinks` whose lists were deleted together with their column, so that nothing needs the
 * tables. Each has the SQL that drops it.
 */
export function* emptiedLinks(
  schema: SchemaDialect,
  declared: readonly Collection[],
): Script<ReadonlyMap<string, readonly string[]>> {
  const emptied = new Map<string, readonly string[]>();
  for (const { name, links } of yield* forgottenLinks(schema, declared)) {
    const there = yield* ask(schema.findColumns(links!.collection));
    if (there.some((column) => column["name"] === links!.column)) continue;
    emptied.set(name, [
      `DROP TABLE ${quote(name)}`,
      `DELETE FROM latchkey_schema WHERE collection = ${schema.literal(name)}`,
    ]);
  }
  return emptied;
}

/** Returns a query over the lists of ids in the records. Its result has one row for each id of each record. */
export function selectLinks(schema: Pick<SchemaDialect, "elements">, links: StoredLinks, value: string): string {
  const [from, list] = [links.collection, links.column].map(quote);
  return `SELECT record."id" AS record, ${value} AS linked FROM ${from!} AS record, ${schema.elements(`record.${list!}`)} AS each WHERE record.${list!} IS NOT NULL`;
}
