import { messageOfThrown } from "../../../core/checking/thrown.ts";
import { fold } from "../../fold.ts";
import type { Collection, Column, StoredRecord, Value } from "../../store.ts";
import { findDecoder, encode } from "../language/codec.ts";
import type { Cell } from "../language/dialect.ts";
import { quote } from "../language/names.ts";
import { ask, statement, type Script } from "../language/script.ts";
import { defaultLiteral } from "../schema/definition.ts";
import type { FoundTable, SchemaDialect } from "../schema/schema.ts";
import { selectedAs } from "../schema/table.ts";
import { pageSize, readPageAfter, rowsBefore } from "./rows-before.ts";
import { createSetChecks, whySetTwice } from "./set-checks.ts";
import { isNarrower, nameBefore, type Source } from "./source.ts";

/** Rows that would not fit the declaration. */
export interface Misfit {
  /** The column: `books.title`. */
  readonly place: string;
  readonly rows: number;
  /** The ids of the first rows. */
  readonly ids: readonly (string | number)[];
  /** The reason, and how to fix it. */
  readonly why: string;
}

/** The number of ids that are shown. */
const shownIds = 5;

type Sources = ReadonlyMap<string, Source>;

/**
 * Finds the rows that would not fit the declaration: a required value is missing, a value cannot be converted or breaks
 * the rule, a reference points to a missing row, or a unique value occurs more than once.
 */
export function* collectMisfits(
  schema: SchemaDialect,
  collection: Collection,
  found: FoundTable,
  sources: Sources,
): Script<readonly Misfit[]> {
  const misfits: Misfit[] = [];
  for (const column of collection.columns) {
    const source = sources.get(column.name)!;
    misfits.push(...(yield* valuesMissing(collection, column, source, found)));
    misfits.push(...(yield* valuesUnconverted(collection, column, source)));
    if (misfits.length === 0) misfits.push(...(yield* valuesDangling(schema, collection, column, source, found)));
    if (misfits.length === 0) misfits.push(...(yield* valuesTwice(collection, column, source, found)));
  }
  for (const set of misfits.length === 0 ? (collection.uniques ?? []) : [])
    misfits.push(...(yield* setsTwice(schema, collection, set, found, sources)));
  if (misfits.length === 0) misfits.push(...(yield* valuesAgainstRules(schema, collection, found, sources)));
  return misfits;
}

/** Returns the SQL expression for the new values. Returns null if the program computes them, or if there are none. */
export function compileExpression(source: Source): string | null {
  if (source.kind === "same") return quote(source.from);
  if (source.kind !== "sql") return null;
  // Null stays null. Without the CASE, the expression could convert it to a value.
  const value = `CASE WHEN ${quote(source.was.name)} IS NOT NULL THEN ${source.conversion.value} END`;
  return source.fallback === null ? value : `coalesce(${value}, ${source.fallback})`;
}

function* valuesMissing(
  collection: Collection,
  column: Column,
  source: Source,
  found: FoundTable,
): Script<readonly Misfit[]> {
  const before = nameBefore(column, found);
  if (column.nullable === true || before === null || source.kind === "program" || source.kind === "unknown") return [];
  if (source.kind === "sql" && source.fallback !== null) return [];
  if (!found.columns.get(before)!.nullable) return [];
  return yield* misfitsWhere(
    collection,
    column,
    `${quote(before)} IS NULL`,
    "is not optional, but there are rows without a value. Declare a value for them: backfill",
  );
}

function* valuesUnconverted(collection: Collection, column: Column, source: Source): Script<readonly Misfit[]> {
  if (source.kind !== "sql" || source.conversion.fits === "TRUE") return [];
  return yield* misfitsWhere(
    collection,
    column,
    `${quote(source.was.name)} IS NOT NULL AND NOT (${source.conversion.fits})`,
    `cannot convert some existing values (${source.was.type} to ${column.type}). Change them, or declare their conversion: convert`,
  );
}

/** Finds values of a new reference that point to missing rows. */
function* valuesDangling(
  schema: SchemaDialect,
  { name }: Collection,
  column: Column,
  source: Source,
  found: FoundTable,
): Script<readonly Misfit[]> {
  const [target, before, expression] = [
    column.references?.collection,
    nameBefore(column, found),
    compileExpression(source),
  ];
  if (target === undefined || before === null || expression === null) return [];
  if (found.references.get(before)?.target.startsWith(`${target} `) === true) return [];
  const isThere = (yield* ask(schema.findColumns(target))).length > 0;
  const none = `NOT EXISTS (SELECT 1 FROM ${quote(target)} AS target WHERE target."id" = row.value)`;
  const where = isThere ? `row.value IS NOT NULL AND ${none}` : "row.value IS NOT NULL";
  const dangling = `FROM (SELECT "id", ${expression} AS value FROM ${quote(name)}) AS row WHERE ${where}`;
  const why = `refers to missing rows of ${target}. Change or delete such rows, or declare their conversion: convert`;
  return yield* misfitsAmong(`${name}.${column.name}`, dangling, why);
}

function misfitsWhere({ name }: Collection, column: Column, where: string, why: string): Script<readonly Misfit[]> {
  return misfitsAmong(`${name}.${column.name}`, `FROM ${quote(name)} WHERE ${where}`, why);
}

function* misfitsAmong(place: string, from: string, why: string): Script<readonly Misfit[]> {
  const first = yield* ask(statement(`SELECT "id" ${from} ORDER BY "id" LIMIT ${shownIds}`));
  if (first.length === 0) return [];
  const [count] = yield* ask(statement(`SELECT count(*) AS counted ${from}`));
  return [{ place, rows: Number(count!["counted"]), ids: first.map(({ id }) => id as string | number), why }];
}

/** Finds new values of a unique column that occur more than once. */
function* valuesTwice(
  { name }: Collection,
  column: Column,
  source: Source,
  found: FoundTable,
): Script<readonly Misfit[]> {
  const expression = compileExpression(source);
  const was = found.declared?.columns.find((each) => each.name === nameBefore(column, found));
  const isNew = source.kind !== "same" || was?.unique !== column.unique;
  if (column.unique !== true || expression === null || !isNew) return [];
  const twice = `FROM ${quote(name)} WHERE ${expression} IS NOT NULL GROUP BY ${expression} HAVING count(*) > 1`;
  const [count] = yield* ask(
    statement(`SELECT coalesce(sum(t.times), 0) AS counted FROM (SELECT count(*) AS times ${twice}) AS t`),
  );
  if (Number(count!["counted"]) === 0) return [];
  const first = yield* ask(
    statement(
      `SELECT "id" FROM ${quote(name)} WHERE ${expression} IN (SELECT ${expression} ${twice}) ORDER BY "id" LIMIT ${shownIds}`,
    ),
  );
  const ids = first.map(({ id }) => id as string | number);
  return [{ place: `${name}.${column.name}`, rows: Number(count!["counted"]), ids, why: whyTwice }];
}

/** Finds rows with the same new values in all columns of a unique set. */
function* setsTwice(
  schema: SchemaDialect,
  { name, columns }: Collection,
  set: readonly string[],
  found: FoundTable,
  sources: Sources,
): Script<readonly Misfit[]> {
  const members = set.map((each) => columns.find((column) => column.name === each)!);
  const before = members.map((column) => nameBefore(column, found)).join();
  const isKnown = found.declared?.uniques?.some((each) => each.join() === before) === true;
  if (isKnown && members.every((column) => sources.get(column.name)!.kind === "same")) return [];
  const expressions = members.map((column) => {
    const source = sources.get(column.name)!;
    return source.kind === "new" ? defaultLiteral(schema, column) : compileExpression(source);
  });
  if (expressions.includes(null) || expressions.includes("NULL")) return [];
  const values = expressions.map((expression, at) => `${expression} AS ${quote(`value ${at}`)}`).join(", ");
  const names = expressions.map((_, at) => quote(`value ${at}`));
  const all = `(SELECT "id", ${values} FROM ${quote(name)})`;
  const group = `SELECT ${names.join(", ")} FROM ${all} AS row GROUP BY ${names.join(", ")} HAVING count(*) > 1`;
  const equal = names.map((each) => `row.${each} = twice.${each}`).join(" AND ");
  return yield* misfitsAmong(
    `${name} (${set.join(", ")})`,
    `FROM ${all} AS row JOIN (${group}) AS twice ON ${equal}`,
    whySetTwice,
  );
}

const whyTwice = "is unique, but some values exist more than once. Change all but one of each";

/** A column whose new values are checked one by one. */
interface ColumnCheck {
  readonly column: Column;
  /** Returns the new value of a row. */
  computeValue(row: StoredRecord, cells: readonly unknown[]): Value;
  /** The new values so far, to find a value that occurs twice. Null if this check does not look for such values. */
  readonly seen: Set<Value> | null;
  rows: number;
  readonly ids: (string | number)[];
  why: string;
}

function* valuesAgainstRules(
  schema: SchemaDialect,
  collection: Collection,
  found: FoundTable,
  sources: Sources,
): Script<readonly Misfit[]> {
  const { selected: before, readRow } = rowsBefore(schema, found);
  const selected = [...before];
  const looked = collection.columns.flatMap(
    (column) => planColumnCheck(schema, column, found, sources, selected) ?? [],
  );
  const sets = createSetChecks(collection, sources).map((check) => ({ ...check, taken: [] as (string | number)[] }));
  if (looked.length === 0 && sets.length === 0) return [];
  let last: Cell = null;
  for (;;) {
    const page = yield* readPageAfter(schema, collection, selected, last);
    for (const cells of page) {
      for (const each of looked) checkRow(schema, each, readRow(cells), cells);
      for (const { isTaken, taken } of sets) if (isTaken(readRow(cells))) taken.push(cells[0] as string | number);
    }
    if (page.length < pageSize) break;
    last = page.at(-1)![0] as Cell;
  }
  const equal = sets.map(({ set, taken }) => ({
    place: `${collection.name} (${set.join(", ")})`,
    rows: taken.length,
    ids: taken.slice(0, shownIds),
    why: whySetTwice,
  }));
  return [
    ...looked.map(({ column, rows, ids, why }) => ({ place: `${collection.name}.${column.name}`, rows, ids, why })),
    ...equal,
  ].filter(({ rows }) => rows > 0);
}

/**
 * Returns the check of a column, or null if its values need no check. Adds the SQL that the check needs to `selected`.
 */
function planColumnCheck(
  schema: SchemaDialect,
  column: Column,
  found: FoundTable,
  sources: Sources,
  selected: string[],
): ColumnCheck | null {
  const source = sources.get(column.name)!;
  const isRuled = column.fits !== undefined && (source.kind === "sql" || isNarrower(column, found));
  const was = found.declared?.columns.find((each) => each.name === nameBefore(column, found));
  const getsFolded = column.unique === "folded" && was?.unique !== "folded" && source.kind !== "new";
  if (source.kind !== "program" && !isRuled && !getsFolded) return null;
  const common = { column, rows: 0, ids: [], why: "", seen: needsSeen(column, source, getsFolded) };
  if (source.kind === "program") return { ...common, computeValue: (row) => source.compute(row) };
  const expression = compileExpression(source);
  if (expression === null) return null;
  const at = selected.push(selectedAs(schema, column, expression)) - 1;
  const decode = findDecoder(schema, column);
  return { ...common, computeValue: (_, cells) => (decode === null ? (cells[at] as Value) : decode(cells[at])) };
}

function needsSeen({ unique }: Column, { kind }: Source, getsFolded: boolean): Set<Value> | null {
  return getsFolded || (kind === "program" && unique !== undefined && unique !== false) ? new Set() : null;
}

function checkRow(schema: SchemaDialect, looked: ColumnCheck, row: StoredRecord, cells: readonly unknown[]): void {
  const why = findMistake(schema, looked, row, cells);
  if (why === null) return;
  looked.why = why;
  looked.rows++;
  if (looked.ids.length < shownIds) looked.ids.push(row["id"] as string | number);
}

/** Returns the mistake in the new value of a row, or null if there is none. */
function findMistake(
  schema: SchemaDialect,
  { column, computeValue, seen }: ColumnCheck,
  row: StoredRecord,
  cells: readonly unknown[],
): string | null {
  let value: Value;
  try {
    value = computeValue(row, cells);
    encode(schema, column, value);
  } catch (error) {
    return `cannot be computed from the existing values: ${messageOfThrown(error).replace(/\.$/, "")}. Mend convert or backfill in its declaration`;
  }
  if (value === null)
    return column.nullable === true ? null : "is not optional, but its convert or backfill gives null";
  if (column.fits?.(value) === false)
    return "has values that the new declaration does not accept. Change them, or declare their conversion: convert";
  if (seen === null) return null;
  const one = column.unique === "folded" && typeof value === "string" ? fold(value) : value;
  if (seen.has(one)) return whyTwice;
  seen.add(one);
  return null;
}
