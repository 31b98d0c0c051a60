import type { Collection, Column } from "../../store.ts";
import { formatShadowName } from "../language/names.ts";
import type { Script } from "../language/script.ts";
import { isOurs, requiredLeftOvers } from "../schema/found-table.ts";
import type { FoundTable, SchemaDialect } from "../schema/schema.ts";
import { collectMisfits, type Misfit } from "./misfits.ts";
import { keyType } from "./rows-before.ts";
import {
  collectSchemaChanges,
  likelyRenames,
  remarksOn,
  type SchemaChange,
  type MigrationParameters,
} from "./schema-changes.ts";
import { resolveSources, type Source } from "./source.ts";

/** The planned changes of a table. */
export interface TablePlan {
  readonly collection: Collection;
  readonly found: FoundTable;
  readonly sources: ReadonlyMap<string, Source>;
  readonly changes: readonly SchemaChange[];
  /**
   * The reasons why the migration cannot start, apart from `misfits` and `renames`. The author of the declaration must
   * solve them.
   */
  readonly obstacles: readonly string[];
  readonly misfits: readonly Misfit[];
  /** Old columns that may have been renamed, each with the new name. */
  readonly renames: readonly { readonly from: string; readonly to: string }[];
  readonly remarks: readonly string[];
}

/** Compares a declaration with its table, and checks all rows that a change affects. */
export function* planTable(
  schema: SchemaDialect,
  collection: Collection,
  found: FoundTable,
  wishes: MigrationParameters,
): Script<TablePlan> {
  const { name } = collection;
  const sources = resolveSources(schema, collection, found);
  const plan = { collection, found, sources, changes: [], misfits: [], renames: [], remarks: [] };
  const obstacles = firstObstacles(schema, collection, found);
  if (obstacles.length > 0) return { ...plan, obstacles };
  for (const [column, source] of sources)
    if (source.kind === "unknown") obstacles.push(`${name}.${column} ${source.why}.`);
  for (const column of requiredLeftOvers(collection, found)) {
    const isKnown = wishes.dropped.has(`${name}.${column.name}`) || collection.removed?.[column.name] !== undefined;
    const isRenamed = collection.columns.some(({ origin }) => origin?.renamedFrom === column.name);
    if (!isKnown && !isRenamed)
      obstacles.push(
        `${name}.${column.name} is no longer declared, but new rows need a value for it. Declare it again, or declare its removal, which keeps its values hidden: removed: { ${column.name}: "${yearAfter(wishes.month)}" }.`,
      );
  }
  const misfits = yield* collectMisfits(schema, collection, found, sources);
  const changes = yield* collectSchemaChanges(schema, collection, found, sources, wishes);
  const going = changes.every(({ effect }) => effect === "adds")
    ? null
    : listReplacedColumns(schema, collection, sources, changes);
  obstacles.push(...(yield* schema.findBound(collection, found, going)));
  return {
    ...plan,
    changes,
    obstacles,
    misfits,
    renames: likelyRenames(schema, collection, found),
    remarks: remarksOn(collection, found, wishes),
  };
}

/** Returns the columns that are replaced or dropped. */
function listReplacedColumns(
  schema: SchemaDialect,
  { name, columns }: Collection,
  sources: ReadonlyMap<string, Source>,
  changes: readonly SchemaChange[],
): ReadonlySet<string> {
  const all = [...sources.values()];
  const retainedNames = new Set(all.map((source) => (source.kind === "same" ? source.from : null)));
  const replaced = columns.flatMap((column) => {
    const source = sources.get(column.name)!;
    const was = source.kind === "sql" || source.kind === "program" ? source.was : null;
    return was === null || retainedNames.has(was.name)
      ? []
      : [was.name, formatShadowName(schema, { ...column, name: was.name })];
  });
  const dropped = changes.flatMap(({ place, effect }) => (effect === "loses" ? [place.slice(name.length + 1)] : []));
  return new Set([...replaced, ...dropped, ...(changesRecords({ changes }) ? [revisionColumn.name] : [])]);
}

/** Returns this month: `2027-01`. */
export function monthNow(): string {
  return new Date().toISOString().slice(0, 7);
}

/**
 * Returns the reasons why a plan cannot start: questions to the author of the declaration, and rows that do not fit.
 */
export function collectObstacles(plan: TablePlan): readonly string[] {
  return [
    ...plan.obstacles,
    ...plan.misfits.map(formatMisfit),
    ...plan.renames.map((rename) => formatRename(plan.collection, rename, monthNow())),
  ];
}

/** True if the change gives records another content, so that copies in caches of clients are no longer valid. */
export function changesRecords({ changes }: Pick<TablePlan, "changes">): boolean {
  return changes.some(({ effect }) => effect === "changes");
}

/** The column of the revisions. */
export const revisionColumn: Column = { name: "_revision", type: "integer" };

/** Formats a misfit as a sentence. */
export function formatMisfit({ place, rows, ids, why }: Misfit): string {
  const some = ids.length < rows ? `${ids.join(", ")}, …` : ids.join(", ");
  return `${place} ${why}. ${rows.toLocaleString("en")} ${rows === 1 ? "does" : "do"} not fit (id ${some}).`;
}

/** Formats an unanswered question about a rename as a sentence. */
export function formatRename({ name }: Collection, { from, to }: TablePlan["renames"][number], month: string): string {
  return (
    `${name}.${from} is no longer declared, and ${name}.${to} is new and of the same type. If it is the same column, declare: renamedFrom: "${from}". ` +
    `If it is not, declare the removal of the old one: removed: { ${from}: "${yearAfter(month)}" }.`
  );
}

function firstObstacles(schema: SchemaDialect, collection: Collection, found: FoundTable): string[] {
  const { name, key } = collection;
  if (!isOurs(found))
    return [
      `There is a table ${name} that was not made by this store. Give the resource another plural, rename that table, or on PostgreSQL give Latchkey a separate schema (a role with search_path = latchkey).`,
    ];
  const { storage } = found.columns.get("id")!;
  if (storage === keyType(schema, key)) return [];
  const cure = found.rows
    ? "The type of keys cannot be changed, because other tables refer to them: declare the new form as a resource with another plural, and copy the records."
    : "The table has no rows, so a start creates it again: start the service, and then migrate the rest.";
  return [`${name}: keys were ${storage.toLowerCase()} and are declared ${key}. ${cure}`];
}

function yearAfter(month: string): string {
  return `${Number(month.slice(0, 4)) + 1}${month.slice(4)}`;
}
