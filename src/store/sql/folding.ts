import { isFolded } from "../fold.ts";
import type { Collection } from "../store.ts";
import { foldCell } from "./language/codec.ts";
import { createParameters, type Cell } from "./language/dialect.ts";
import { ask, orUndone, run, statement, type Script, type Statement } from "./language/script.ts";
import type { SchemaDialect } from "./schema/schema.ts";
import type { Table, TableColumn } from "./schema/table.ts";

/*
 * A folded column stores a text in lower case, for comparison without regard to case. During an upgrade, a process of
 * an older version, which does not write the folded column, may write at the same time as this one. The rows that it
 * writes then have no folded value, or the value of an older text. So each start compares the folded columns with their
 * texts in the background, and repeats this with growing pauses.
 */

/** How many rows one portion compares. */
const portion = 1000;

/**
 * The pause before all rows are compared again, in milliseconds. It doubles, up to a day, each time no folded value was
 * wrong.
 */
const firstPauseMs = 5000;
const longestPauseMs = 24 * 3600 * 1000;

/** The shortest pause, as a multiple of the duration of the last comparison. */
const leastPause = 20;

interface Compared {
  readonly table: Table;
  readonly columns: readonly TableColumn[];
}

/**
 * Returns the tables with folded columns. Leaves out unique columns, because every version of Latchkey writes their
 * folded values, and because a corrected value could be the folded value of another row.
 */
function listCompared(
  collections: readonly Collection[],
  getTable: (collection: Collection) => Table,
): readonly Compared[] {
  return collections.flatMap((collection) => {
    if (collection.existing !== undefined) return [];
    const table = getTable(collection);
    const columns = [...table.columns.values()].filter((column) => isFolded(column) && column.unique !== "folded");
    return columns.length === 0 ? [] : [{ table, columns }];
  });
}

/** The background work that compares all folded values with their columns, again and again. */
export interface ComparingFolded {
  /** Compares the next portion and corrects the differences. Returns false during a pause. */
  next(): Script<boolean>;
  /** Reports that the last portion failed. The next call continues with the next table. */
  failed(): void;
}

/** Creates the comparison for these collections. Returns null if no column is folded. `now` is in milliseconds. */
export function comparingFolded(
  schema: SchemaDialect,
  collections: readonly Collection[],
  { getTable, now }: { readonly getTable: (collection: Collection) => Table; readonly now: () => number },
): ComparingFolded | null {
  const compared = listCompared(collections, getTable);
  if (compared.length === 0) return null;
  let [at, from, hasFound] = [0, null as Cell, false];
  let [due, began, pauseMs] = [-Infinity, 0, firstPauseMs];

  function leave(): void {
    [at, from] = [at + 1, null];
    if (at < compared.length) return;
    pauseMs = hasFound ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs);
    due = now() + Math.max(pauseMs, (now() - began) * leastPause);
    [at, hasFound] = [0, false];
  }

  return {
    *next() {
      if (now() < due) return false;
      if (at === 0 && from === null) began = now();
      const { table, columns } = compared[at]!;
      const to = yield* endOfPortion(schema, table, from);
      if (to === null) leave();
      else {
        for (const column of columns) hasFound = (yield* correct(schema, table, { column, from, to })) || hasFound;
        from = to;
      }
      return true;
    },
    failed: leave,
  };
}

interface KeyRange {
  readonly column: TableColumn;
  /** The last key before the range. Null if the range starts with the first row. */
  readonly from: Cell;
  readonly to: Cell;
}

/** Returns the last key of the next portion. Returns null if there are no more rows. */
function* endOfPortion({ place }: SchemaDialect, { name, collection }: Table, from: Cell): Script<Cell> {
  const rows = `SELECT "id" FROM ${name} WHERE "id" > ${place(1)} ORDER BY "id" LIMIT ${portion}`;
  const [row] = yield* ask(
    statement(`SELECT max("id") AS last FROM (${rows}) AS page`, [from ?? firstKey(collection)]),
  );
  return row!["last"] as Cell;
}

/** Returns a key before all keys that the store assigns. */
function firstKey({ key }: Collection): Cell {
  return key === "integer" ? 0 : "";
}

/** Corrects the folded values of a range. Returns true if some were wrong. */
function* correct(schema: SchemaDialect, table: Table, { column, from, to }: KeyRange): Script<boolean> {
  const { sql, shadow } = column;
  const [first, second] = [schema.place(1), schema.place(2)];
  // For ASCII, `lower` of the database returns the folded value. So the query finds only wrong rows and rows with other
  // characters. This process compares these rows. A folded value of an earlier version can be equal to `lower`, with
  // letters that are folded now.
  const rows = yield* ask(
    statement(
      `SELECT "id", ${sql} AS value, ${shadow!} AS folded FROM ${table.name} WHERE "id" > ${first} AND "id" <= ${second} AND (${shadow!} IS DISTINCT FROM lower(${sql}) OR octet_length(${shadow!}) <> length(${shadow!}))`,
      [from ?? firstKey(table.collection), to],
    ),
  );
  const wrong = rows.filter(({ value, folded }) => foldCell(column, value as Cell) !== folded);
  if (wrong.length === 0) return false;
  yield* orUndone(
    (function* () {
      yield* run(schema.beginPortion);
      for (const { id, value } of wrong)
        yield* ask(correction(schema, table, { column, id: id as Cell, value: value as Cell }));
      yield* run("COMMIT");
    })(),
  );
  return true;
}

/**
 * Returns the statement that corrects a folded value. The statement does nothing if another transaction is changing the
 * row, or has changed it since it was read. The next comparison checks the row again.
 */
function correction(
  schema: SchemaDialect,
  { name }: Table,
  { column, id, value }: { readonly column: TableColumn; readonly id: Cell; readonly value: Cell },
): Statement {
  const { sql, shadow } = column;
  const values = createParameters(schema);
  const set = `UPDATE ${name} SET ${shadow!} = ${values.place(foldCell(column, value))}`;
  const same = `SELECT "id" FROM ${name} WHERE "id" = ${values.place(id)} AND ${sql} IS NOT DISTINCT FROM ${values.place(value)}`;
  return statement(`${set} WHERE ${schema.isSomeOf(`"id"`, same)}`, values.values);
}
