import { valueOfJSON } from "../../../core/exact-numbers.ts";
import type { Collection, Column, KeptLinks } from "../../store.ts";
import { quote } from "../names.ts";
import { findTable } from "./found-table.ts";
import type { Schema } from "./schema.ts";
import { ask, run, statement, type Script } from "./script.ts";

/**
 * Fills a table of relations that was just made with those that stand in the records, where their field was renamed or is made of another,
 * and removes the table of the name before, which would hold records that nobody names any more.
 */
export function* fillLinks(schema: Schema, collection: Collection): Script<void> {
  const { links } = collection;
  if (links === undefined) return;
  const there = yield* ask(schema.findColumns(links.collection));
  // A column that is added behind this has no lists yet.
  if (!there.some(({ name }) => name === links.column)) return;
  for (const sql of schema.insertLinks(collection, links)) yield* run(sql);
  const [record] = collection.columns;
  const before = links.was === undefined ? null : yield* findTable(schema, { ...collection, name: links.was });
  if (before?.declared?.columns[0]?.name !== record!.name) return;
  yield* run(`DROP TABLE ${quote(links.was!)}`);
  yield* ask(statement(`DELETE FROM latchkey_schema WHERE collection = ${schema.place(1)}`, [links.was!]));
}

/**
 * The tables of relations whose field is declared no more, as they are from then on: they keep no record from being deleted. Whoever was
 * started before goes on writing to them. One whose field has a new name is filled from it.
 */
export function* forgottenLinks(schema: Schema, declared: readonly Collection[]): Script<readonly Collection[]> {
  const owners = new Map(declared.map((each) => [each.name, each]));
  const renamed = new Set(declared.map(({ links }) => links?.was));
  const rows = yield* ask(statement("SELECT declaration FROM latchkey_schema"));
  const forgotten: Collection[] = [];
  for (const { declaration } of rows) {
    const kept = valueOfJSON(String(declaration)) as Collection;
    const owner = owners.get(kept.links?.collection ?? "");
    if (owner === undefined || owners.has(kept.name) || renamed.has(kept.name)) continue;
    if (owner.columns.some((column) => column.name === kept.links!.column && isList(column))) continue;
    if ((yield* ask(schema.findColumns(kept.name))).length === 0) continue;
    const columns = kept.columns.map(({ references, ...column }) =>
      references?.onDelete === "cascade" ? { ...column, references } : column,
    );
    forgotten.push({ ...kept, columns });
  }
  return forgotten;
}

/** Whether a column has the ids of a relation: its table may be declared elsewhere. */
function isList({ rule }: Column): boolean {
  return typeof rule === "object" && rule !== null && "kind" in rule && rule["kind"] === "references";
}

/** Of these the ones whose lists have gone with their column, so that nothing could be made of them any more: what removes them. */
export function* emptiedLinks(
  schema: Schema,
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

/** The relations that stand in records, as rows with a record and one of its ids each. */
export function selectLinks(schema: Pick<Schema, "elements">, links: KeptLinks, value: string): string {
  const [from, list] = [links.collection, links.column].map(quote);
  return `SELECT record."id" AS record, ${value} AS linked FROM ${from!} AS record, ${schema.elements(`record.${list!}`)} AS each WHERE record.${list!} IS NOT NULL`;
}
