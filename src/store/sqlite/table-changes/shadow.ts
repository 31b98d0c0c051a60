import { isFolded } from "../../fold.ts";
import { encode } from "../../sql/language/codec.ts";
import { quote, formatShadowName } from "../../sql/language/names.ts";
import { compileExpression } from "../../sql/migrations/misfits.ts";
import { changesRecords, type TablePlan } from "../../sql/migrations/plan-table.ts";
import { rowsBefore } from "../../sql/migrations/rows-before.ts";
import { nameBefore, type Source } from "../../sql/migrations/source.ts";
import { createTable, collectIndexes } from "../../sql/schema/definition.ts";
import { leftOvers } from "../../sql/schema/found-table.ts";
import { formatReference, type SchemaDialect } from "../../sql/schema/schema.ts";
import type { Collection, Column, StoredRecord } from "../../store.ts";
import { compileFold } from "../connection/functions.ts";
import { sqlite } from "../dialect.ts";
import { convertOrFail } from "./conversions.ts";
import { freeName, type ownObjects } from "./own-objects.ts";

/** Returns the SQL of the condition that selects the rows, given the SQL of their key. */
export type Which = (id: string) => string;

/**
 * The shadow of a table: the new table that a migration fills while clients still use the old one, with the SQL that
 * fills it.
 */
export interface Shadow {
  /** The quoted name of the new table. */
  readonly name: string;
  /** The quoted name of the table with the ids of rows that have changed since they were copied. */
  readonly moved: string;
  /** The statements that create the table, its indexes and the triggers that keep it up to date. */
  readonly make: readonly string[];
  /** Returns the SQL that copies the matching rows. */
  copy(where: Which): string;
  /** Returns the SQL that counts the matching rows with a missing or different copy. */
  differing(where: Which): string;
  /**
   * Returns the SQL that finds matching copies that refer to a missing row. Returns null if the migration adds no
   * references.
   */
  dangling(where: Which): string | null;
  /** The functions of the program that `copy` calls. Each receives the cells of a row and returns the new value. */
  readonly functions: ReadonlyMap<string, (...cells: unknown[]) => unknown>;
}

/** The names of the existing objects in the database. */
interface DatabaseObjects {
  readonly indexes: ReadonlySet<string>;
  readonly tables: ReadonlySet<string>;
  /**
   * True if the copy contains folded values (without differences of case). Only a function of this program can compute
   * them.
   */
  readonly folds: boolean;
}

/** Returns the shadow of a table. */
export function shadowFor(
  schema: SchemaDialect,
  plan: TablePlan,
  dropped: readonly string[],
  { indexes, tables, folds }: DatabaseObjects,
): Shadow {
  const { collection } = plan;
  const table = quote(collection.name);
  const { copy, moved: notes } = namesFor(collection);
  const [name, moved] = [copy, notes].map(quote) as [string, string];
  const references = newReferences(plan);
  const retainedColumns = findCopiedLeftovers(plan, dropped);
  const changes = changesRecords(plan);
  const functions = new Map<string, (...cells: unknown[]) => unknown>();
  const columns = collection.columns.flatMap((column) => copiedColumn(schema, plan, column, folds, functions));
  const all = [
    ...["id", ...retainedColumns.map((each) => each.name)].map((each) => ({
      to: quote(each),
      from: quote(each),
      same: true,
    })),
    { to: quote("_revision"), from: changes ? `(${lastRevision})` : quote("_revision"), same: !changes },
    ...columns,
  ];
  const same = all.filter((each) => each.same);
  const keyType = sqlite.compileStorage({ name: "id", type: collection.key });
  return {
    name,
    moved,
    functions,
    make: [
      createTable(schema, collection, copy),
      ...retainedColumns.map((each) => `ALTER TABLE ${name} ADD COLUMN ${quote(each.name)} ${each.storage}`),
      ...[...collectIndexes(schema, collection)].map(([index, { sql }]) =>
        sql.replace(
          ` INDEX ${quote(index)} ON ${table} `,
          () => ` INDEX ${quote(freeName(index, indexes))} ON ${name} `,
        ),
      ),
      `CREATE TABLE ${moved} ("id" ${keyType} NOT NULL PRIMARY KEY) WITHOUT ROWID, STRICT`,
      ...triggersOn(collection),
      ...references.filter(({ target }) => tables.has(target)).map((each) => compileDeletionTrigger(collection, each)),
    ],
    copy: (where) =>
      `INSERT INTO ${name} (${all.map(({ to }) => to).join(", ")}) SELECT ${all.map(({ from }) => from).join(", ")} FROM ${table} WHERE ${where(`"id"`)}`,
    differing: (where) =>
      `SELECT count(*) FROM ${table} LEFT JOIN ${name} AS copy ON copy."id" = ${table}."id" WHERE (${where(`${table}."id"`)}) ` +
      `AND (copy."id" IS NULL OR ${same.map(({ to, from }) => `copy.${to} IS NOT ${table}.${from}`).join(" OR ")})`,
    dangling: (where) =>
      references.length === 0
        ? null
        : `SELECT copy."id" FROM ${name} AS copy WHERE (${where(`copy."id"`)}) AND (${references
            .map(({ column, target }) => compileDangling(`copy.${quote(column)}`, tables.has(target) ? target : null))
            .join(" OR ")}) LIMIT 5`,
  };
}

const lastRevision = "SELECT revision FROM latchkey_revision";

/**
 * The SQL that increases the revision. If the migration changes the records, `copy` gives the new revision to the
 * copied rows.
 */
export const nextRevision = "UPDATE latchkey_revision SET revision = revision + 1";

/**
 * Returns a script that an operator can run without Latchkey. Returns null if a function of the program computes
 * values.
 */
export function rebuildByHand(
  schema: SchemaDialect,
  plan: TablePlan,
  dropped: readonly string[],
  own: ReturnType<typeof ownObjects>,
): readonly string[] | null {
  const shadow = shadowFor(schema, plan, dropped, { indexes: new Set(), tables: new Set(), folds: false });
  if ([...plan.sources.values()].some(({ kind }) => kind === "program")) return null;
  const { collection } = plan;
  const made = statementsWithoutTriggers(shadow).filter((sql) => !/^CREATE (UNIQUE )?INDEX/.test(sql));
  return [
    "PRAGMA foreign_keys = OFF",
    "BEGIN IMMEDIATE",
    ...made,
    nextRevision,
    shadow.copy(() => "TRUE"),
    `DROP TABLE ${quote(collection.name)}`,
    `ALTER TABLE ${shadow.name} RENAME TO ${quote(collection.name)}`,
    ...[...own.indexes, ...own.triggers].map(({ sql }) => sql),
  ];
}

/** Returns the statements that create the new table, without the triggers that keep it up to date. */
export function statementsWithoutTriggers({ make, moved }: Shadow): readonly string[] {
  return make.filter((sql) => !sql.startsWith("CREATE TRIGGER") && !sql.includes(moved));
}

/** Returns the columns that are copied although they are no longer declared. */
function findCopiedLeftovers({ collection, found, sources }: TablePlan, dropped: readonly string[]) {
  const renamed = new Set(
    [...sources].flatMap(([to, source]) => {
      const from = findOldName(source);
      return from === null || from === to ? [] : [from];
    }),
  );
  return leftOvers(collection, found).filter(
    ({ name }) => !renamed.has(name) && !dropped.includes(`${collection.name}.${name}`),
  );
}

function findOldName(source: Source): string | null {
  if (source.kind === "same") return source.from;
  return source.kind === "sql" || source.kind === "program" ? (source.was?.name ?? null) : null;
}

interface Copied {
  readonly to: string;
  readonly from: string;
  readonly same: boolean;
}

function copiedColumn(
  schema: SchemaDialect,
  plan: TablePlan,
  column: Column,
  folds: boolean,
  functions: Map<string, (...cells: unknown[]) => unknown>,
): readonly Copied[] {
  const source = plan.sources.get(column.name)!;
  if (source.kind === "new" || source.kind === "unknown") return [];
  const to = quote(column.name);
  const from = source.kind === "program" ? compileCall(schema, plan, column, source, functions) : compileValue(source);
  const copied: Copied[] = [{ to, from, same: source.kind === "same" }];
  if (folds && isFolded(column))
    copied.push({ to: quote(formatShadowName(schema, column)), from: compileFold(column, from), same: false });
  return copied;
}

function compileValue(source: Extract<Source, { kind: "same" | "sql" }>): string {
  if (source.kind === "same") return compileExpression(source)!;
  const value = convertOrFail(source.conversion, quote(source.was.name));
  return source.fallback === null ? value : `coalesce(${value}, ${source.fallback})`;
}

/** Returns the SQL that calls the program's function with all cells of the old row. */
function compileCall(
  schema: SchemaDialect,
  { found }: TablePlan,
  column: Column,
  { compute }: { compute(row: StoredRecord): unknown },
  functions: Map<string, (...cells: unknown[]) => unknown>,
): string {
  const { selected, readRow } = rowsBefore(schema, found);
  const name = `latchkey_make_${functions.size}`;
  functions.set(name, (...cells) => {
    const cell = encode(schema, column, compute(readRow(cells)));
    return typeof cell === "boolean" ? Number(cell) : cell;
  });
  return `${name}(${selected.join(", ")})`;
}

/**
 * Returns the names that a migration uses: the copy of a table, the table of changed ids, and the start of the names of
 * the triggers.
 */
export function namesFor({ name }: Collection): {
  readonly copy: string;
  readonly moved: string;
  readonly triggersPrefix: string;
} {
  return { copy: `_${name}_next`, moved: `_${name}_moved`, triggersPrefix: `moved in ${name} ` };
}

/**
 * Returns the triggers that keep the copy up to date. If a row changes or is deleted, its copy is deleted immediately,
 * because it could refer to rows that no longer exist. A changed row is recorded, and the migration copies it again
 * later. The triggers call no function of Latchkey, so that other programs can also write.
 */
function triggersOn(collection: Collection): readonly string[] {
  const names = namesFor(collection);
  const [table, copy, moved] = [collection.name, names.copy, names.moved].map(quote);
  const forget = (id: string): string => `DELETE FROM ${copy!} WHERE "id" = ${id};`;
  const note = `INSERT INTO ${moved!} VALUES (NEW."id") ON CONFLICT DO NOTHING;`;
  const trigger = (when: string, what: string): string =>
    `CREATE TRIGGER ${quote(names.triggersPrefix + when)} AFTER ${when.toUpperCase()} ON ${table!} BEGIN ${what} END`;
  return [
    // With INSERT OR REPLACE, SQLite does not fire the delete trigger for the replaced row.
    trigger("insert", `${forget('NEW."id"')} ${note}`),
    trigger("update", `${forget('OLD."id"')} ${note}`),
    trigger("delete", forget('OLD."id"')),
  ];
}

interface NewReference {
  readonly column: string;
  readonly target: string;
}

/** Returns the references that the table does not have yet. */
function newReferences({ collection, found }: TablePlan): readonly NewReference[] {
  return collection.columns.flatMap((column) => {
    const before = nameBefore(column, found);
    const was = before === null ? undefined : found.references.get(before)?.target;
    if (column.references === undefined || was === formatReference(column)) return [];
    return [{ column: column.name, target: column.references.collection }];
  });
}

/**
 * Returns a trigger for a new reference. Before a row of the target is deleted, the trigger deletes the copies that
 * refer to it and records their ids, so that they are copied again. Otherwise a copy would block a deletion that the
 * old table allows.
 */
function compileDeletionTrigger(collection: Collection, { column, target }: NewReference): string {
  const { copy, moved, triggersPrefix } = namesFor(collection);
  const among = `FROM ${quote(copy)} WHERE ${quote(column)} = OLD."id"`;
  return (
    `CREATE TRIGGER ${quote(`${triggersPrefix}by ${column}`)} BEFORE DELETE ON ${quote(target)} BEGIN ` +
    `INSERT INTO ${quote(moved)} SELECT "id" ${among} ON CONFLICT DO NOTHING; DELETE ${among}; END`
  );
}

function compileDangling(value: string, target: string | null): string {
  if (target === null) return `${value} IS NOT NULL`;
  return `(${value} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${quote(
    target,
  )} AS target WHERE target."id" = ${value}))`;
}
