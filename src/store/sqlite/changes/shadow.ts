import { isFolded } from "../../fold.ts";
import { expressionOf } from "../../sql/changes/misfits.ts";
import { showsAnew, type TablePlan } from "../../sql/changes/plan-table.ts";
import { rowsBefore } from "../../sql/changes/rows-before.ts";
import type { Source } from "../../sql/changes/source.ts";
import { encode } from "../../sql/codec.ts";
import { otherName, quote, shadowOf } from "../../sql/names.ts";
import { createTable, indexesOf } from "../../sql/schema/definition.ts";
import { leftOvers } from "../../sql/schema/found-table.ts";
import type { Schema } from "../../sql/schema/schema.ts";
import { statement, type Rows, type Statement } from "../../sql/schema/script.ts";
import { triggerPrefix } from "../../sql/words.ts";
import type { Collection, Column, StoredRecord } from "../../store.ts";
import { sqlite } from "../dialect.ts";
import { convertOrFail } from "./conversions.ts";

/** Which rows, by what stands for their keys in SQL. */
export type Which = (id: string) => string;

/** A table of the new form, and how its rows are made of those of the old one. */
export interface Shadow {
  /** Its quoted name. */
  readonly name: string;
  /** The quoted name of the table of the ids that have changed meanwhile. */
  readonly moved: string;
  /** The statements that make it, its indexes and what keeps it in step. */
  readonly make: readonly string[];
  /** Removes it and what keeps it in step, wherever that was left. */
  readonly discard: readonly string[];
  /** Copies the rows of a condition. */
  copy(where: Which): string;
  /** Counts the rows of a condition whose copy is not what they are. */
  differing(where: Which): string;
  /** The functions of the program that `copy` calls: what they make of the cells of a row. */
  readonly functions: ReadonlyMap<string, (...cells: unknown[]) => unknown>;
}

/** How a table is made anew: beside the names of the indexes that are there, and with folded values, which only the program can make. */
export function shadowFor(
  schema: Schema,
  plan: TablePlan,
  dropped: readonly string[],
  { indexes, folds }: { readonly indexes: ReadonlySet<string>; readonly folds: boolean },
): Shadow {
  const { collection } = plan;
  const table = quote(collection.name);
  const [name, moved] = [quote(shadowName(collection)), quote(`_${collection.name}_moved`)];
  const kept = keptLeftOvers(plan, dropped);
  const isAnew = showsAnew(plan);
  const functions = new Map<string, (...cells: unknown[]) => unknown>();
  const columns = collection.columns.flatMap((column) => copiedColumn(schema, plan, column, folds, functions));
  const all = [
    ...["id", ...kept.map((each) => each.name)].map((each) => ({ to: quote(each), from: quote(each), same: true })),
    { to: quote("_revision"), from: isAnew ? `(${lastRevision})` : quote("_revision"), same: !isAnew },
    ...columns,
  ];
  const same = all.filter((each) => each.same);
  const discard = [
    ...triggersOn(collection).map(([trigger]) => `DROP TRIGGER IF EXISTS ${quote(trigger)}`),
    `DROP TABLE IF EXISTS ${name}`,
    `DROP TABLE IF EXISTS ${moved}`,
  ];
  const keyType = sqlite.storageOf({ name: "id", type: collection.key });
  return {
    name,
    moved,
    functions,
    discard,
    make: [
      ...discard,
      createTable(schema, collection, shadowName(collection)),
      ...kept.map((each) => `ALTER TABLE ${name} ADD COLUMN ${quote(each.name)} ${each.storage}`),
      ...[...indexesOf(schema, collection)].map(([index, { sql }]) =>
        sql.replace(
          ` INDEX ${quote(index)} ON ${table} `,
          () => ` INDEX ${quote(indexes.has(index) ? otherName(index) : index)} ON ${name} `,
        ),
      ),
      `CREATE TABLE ${moved} ("id" ${keyType} NOT NULL PRIMARY KEY) WITHOUT ROWID, STRICT`,
      ...triggersOn(collection).map(([trigger, rest]) => `CREATE TRIGGER ${quote(trigger)} ${rest}`),
    ],
    copy: (where) =>
      `INSERT INTO ${name} (${all.map(({ to }) => to).join(", ")}) SELECT ${all.map(({ from }) => from).join(", ")} FROM ${table} WHERE ${where(`"id"`)}`,
    differing: (where) =>
      `SELECT count(*) FROM ${table} LEFT JOIN ${name} AS copy ON copy."id" = ${table}."id" WHERE (${where(`${table}."id"`)}) ` +
      `AND (copy."id" IS NULL OR ${same.map(({ to, from }) => `copy.${to} IS NOT ${table}.${from}`).join(" OR ")})`,
  };
}

const lastRevision = "SELECT revision FROM latchkey_revision";

/** Raises what `copy` gives its rows as their revision, where records show something else afterwards. */
export const nextRevision = "UPDATE latchkey_revision SET revision = revision + 1";

/** Finds what goes with a table, as the program that made it said it. */
export function findOwnObjects({ name }: Collection): Statement {
  return statement(
    "SELECT name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND tbl_name = ? AND sql IS NOT NULL",
    [name],
  );
}

/** Of these the indexes and triggers that somebody else has made. */
export function ownObjects({ name: table }: Collection, found: Rows): readonly string[] {
  const ours = [triggerPrefix, "moved in ", `${table}(`, `unique ${table}(`];
  return found.filter(([name]) => !ours.some((start) => String(name).startsWith(start))).map(([, sql]) => String(sql));
}

/** The script of a program without functions, for whoever runs it by hand; null where a function makes values. */
export function rebuildByHand(
  schema: Schema,
  plan: TablePlan,
  dropped: readonly string[],
  own: readonly string[],
): readonly string[] | null {
  const shadow = shadowFor(schema, plan, dropped, { indexes: new Set(), folds: false });
  if ([...plan.sources.values()].some(({ kind }) => kind === "program")) return null;
  const { collection } = plan;
  const made = shadow.make.filter((sql) => /^(CREATE TABLE|ALTER TABLE)/.test(sql) && !sql.includes(shadow.moved));
  return [
    "PRAGMA foreign_keys = OFF",
    "BEGIN IMMEDIATE",
    ...made,
    nextRevision,
    shadow.copy(() => "TRUE"),
    `DROP TABLE ${quote(collection.name)}`,
    `ALTER TABLE ${shadow.name} RENAME TO ${quote(collection.name)}`,
    ...own,
  ];
}

/** The columns that are declared no more and go along. */
function keptLeftOvers({ collection, found, sources }: TablePlan, dropped: readonly string[]) {
  const renamed = new Set(
    [...sources].flatMap(([to, source]) => {
      const from = fromOf(source);
      return from === null || from === to ? [] : [from];
    }),
  );
  return leftOvers(collection, found).filter(
    ({ name }) => !renamed.has(name) && !dropped.includes(`${collection.name}.${name}`),
  );
}

function fromOf(source: Source): string | null {
  if (source.kind === "same") return source.from;
  return source.kind === "sql" || source.kind === "program" ? (source.was?.name ?? null) : null;
}

interface Copied {
  readonly to: string;
  readonly from: string;
  readonly same: boolean;
}

function copiedColumn(
  schema: Schema,
  plan: TablePlan,
  column: Column,
  folds: boolean,
  functions: Map<string, (...cells: unknown[]) => unknown>,
): readonly Copied[] {
  const source = plan.sources.get(column.name)!;
  if (source.kind === "new" || source.kind === "unknown") return [];
  const to = quote(column.name);
  const from = source.kind === "program" ? callOf(schema, plan, column, source, functions) : sqlOf(source);
  const copied: Copied[] = [{ to, from, same: source.kind === "same" }];
  if (folds && isFolded(column))
    copied.push({ to: quote(shadowOf(schema, column)), from: `latchkey_fold(${from})`, same: false });
  return copied;
}

function sqlOf(source: Extract<Source, { kind: "same" | "sql" }>): string {
  if (source.kind === "same") return expressionOf(source)!;
  const value = convertOrFail(source.conversion, quote(source.was.name));
  return source.fallback === null ? value : `coalesce(${value}, ${source.fallback})`;
}

/** The program's function is called with all cells of the row as it was. */
function callOf(
  schema: Schema,
  { found }: TablePlan,
  column: Column,
  { compute }: { compute(row: StoredRecord): unknown },
  functions: Map<string, (...cells: unknown[]) => unknown>,
): string {
  const { selected, rowOf } = rowsBefore(schema, found);
  const name = `latchkey_make_${functions.size}`;
  functions.set(name, (...cells) => {
    const cell = encode(schema, column, compute(rowOf(cells)));
    return typeof cell === "boolean" ? Number(cell) : cell;
  });
  return `${name}(${selected.join(", ")})`;
}

function shadowName({ name }: Collection): string {
  return `_${name}_next`;
}

/**
 * What keeps the copy in step. A copy of what is changed or removed goes at once, so that it refers to nothing that is going too; it is made
 * again behind the write. The triggers know no function of ours, so that every program can write.
 */
function triggersOn(collection: Collection): readonly (readonly [name: string, rest: string])[] {
  const table = quote(collection.name);
  const [copy, moved] = [quote(shadowName(collection)), quote(`_${collection.name}_moved`)];
  const forget = `DELETE FROM ${copy} WHERE "id" = OLD."id";`;
  const note = `INSERT INTO ${moved} VALUES (NEW."id") ON CONFLICT DO NOTHING;`;
  return [
    [`moved in ${collection.name} insert`, `AFTER INSERT ON ${table} BEGIN ${note} END`],
    [`moved in ${collection.name} update`, `AFTER UPDATE ON ${table} BEGIN ${forget} ${note} END`],
    [`moved in ${collection.name} delete`, `AFTER DELETE ON ${table} BEGIN ${forget} END`],
  ];
}
