import type { DatabaseSync } from "node:sqlite";
import { encodeCompared } from "../../sql/language/codec.ts";
import { createParameters, type CellsRead, type BoundValues, type ReadStatement } from "../../sql/language/dialect.ts";
import { compileRest, readCount, readList, selectBy, type PlannedQuery } from "../../sql/list.ts";
import { requireColumn, type Table, type TableColumn } from "../../sql/schema/table.ts";
import { compileValues, compileWhere } from "../../sql/where.ts";
import { readWordCounts } from "../../sql/word-index.ts";
import type {
  Collection,
  Idempotency,
  Key,
  ListQuery,
  ListText,
  Recalled,
  Row,
  Value,
  Where,
  RelatedQuery,
  RelatedText,
  WordCounts,
} from "../../store.ts";
import { createNamedCache, prepare, type Statements, createStatementCache } from "../connection/connection.ts";
import { storeError } from "../connection/errors.ts";
import { sqlite } from "../dialect.ts";
import { lastingIn, type IsLasting } from "../existing/views.ts";
import { createRecall, type Recall } from "../idempotency.ts";
import { estimateRows } from "./estimate.ts";
import { createPageReader, selectPage } from "./pages.ts";
import { readRelated } from "./related.ts";
import { rememberedRows, type ReadRow } from "./rows.ts";
import {
  readNarrowed,
  settleCounted,
  settleRelated,
  semiJoinLimits,
  type SemiJoinLimits,
  type SemiJoinReads,
} from "./semi-joins.ts";

/** Reads that run in the calling thread, synchronously. */
export interface SQLiteReader {
  find(collection: Collection, key: Key): Row | null;
  findBy(collection: Collection, column: string, value: Value): Row | null;
  list(query: ListQuery): readonly Row[];
  listJSON(query: ListQuery): ListText;
  countWords(collection: Collection, words: readonly string[], atMost: number): WordCounts | null;
  listRelated(query: RelatedQuery): readonly RelatedText[] | null;
  count(collection: Collection, where: Where | null): number;
  estimate(collection: Collection): number | null;
  plan(query: ListQuery): readonly string[];
  recall(idempotency: Idempotency): Recalled | null;
}

/** The options of a reader. */
export interface ReaderOptions {
  readonly database: DatabaseSync;
  /** Called before each read. It may open a snapshot that several reads share. */
  readonly ready: () => void;
  /** Does the same as `ready`, and returns a number that changes after every commit. */
  readonly version: () => number;
  readonly getTable: (collection: Collection) => Table;
  /** Throws if the collection must not be read, because its table was changed. Called after `ready`. */
  readonly require?: (collection: Collection) => void;
  /** Returns the cause of an error, or the error itself. */
  readonly explain?: (error: unknown) => unknown;
  /** Tests use small numbers. */
  readonly limits?: SemiJoinLimits;
}

const same = (error: unknown): unknown => error;
const anything = (): void => {};

/** Creates the reads of a connection. */
export function createReader(options: ReaderOptions): SQLiteReader {
  const { database, ready, version, getTable, require = anything, explain = same, limits = semiJoinLimits } = options;
  const isLasting = lastingIn(database);
  const readPage = createPageReader(version);
  const prepared = preparedIn(database, isLasting, getTable);
  const semiJoins = createSemiJoinReads(of, limits);
  let recall: Recall | null = null;

  function of(collection: Collection): Prepared {
    require(collection);
    return prepared(collection);
  }

  /**
   * Returns a read that first calls `ready` and converts errors. `find` and `findBy` do both directly, because they are
   * called more often.
   */
  function guarded<A extends readonly unknown[], R>(read: (...parameters: A) => R): (...parameters: A) => R {
    return (...parameters) => {
      try {
        ready();
        return read(...parameters);
      } catch (error) {
        throw explain(storeError(error));
      }
    };
  }

  return {
    find(collection, key) {
      try {
        const now = version();
        const { table, byKey } = of(collection);
        const cells = byKey(key, now);
        return cells === undefined ? null : table.readRow(cells);
      } catch (error) {
        throw explain(storeError(error));
      }
    },
    findBy(collection, name, value) {
      try {
        const now = version();
        const { table, by } = of(collection);
        const column = requireColumn(table, name);
        const cells = by(column)(encodeCompared(sqlite, column, value), now);
        return cells === undefined ? null : table.readRow(cells);
      } catch (error) {
        throw explain(storeError(error));
      }
    },
    list: guarded((query) => {
      const { table, askCells } = of(query.collection);
      const read = (planned: PlannedQuery): readonly Row[] => askCells(readList(table, planned));
      return readNarrowed(query, semiJoins, read, ({ length }) => length === query.limit);
    }),
    listJSON: guarded((query) => {
      const { table, statements } = of(query.collection);
      const read = (planned: PlannedQuery): ListText => readPage(table, statements, planned);
      return readNarrowed(query, semiJoins, read, ({ more }) => more);
    }),
    countWords: guarded((collection, words, atMost) => {
      const { table, ask } = of(collection);
      return ask(readWordCounts(table, words, atMost));
    }),
    listRelated: guarded((query) => {
      const { table, statements } = of(query.collection);
      return readRelated({ table, statements, database }, { ...query, where: settleRelated(query, semiJoins) });
    }),
    count: guarded((collection, where) => {
      const { table, ask } = of(collection);
      return ask(readCount(table, settleCounted(collection, where, semiJoins)));
    }),
    estimate: guarded((collection) => {
      const { table, statements } = of(collection);
      return estimateRows(table, statements);
    }),
    plan: guarded((query) => {
      const parameters = createParameters(sqlite);
      const sql = selectPage(of(query.collection).table, query, parameters);
      return loadPlanSteps(database, sql, parameters);
    }),
    recall: guarded((idempotency) => (recall ??= createRecall(database))(idempotency)),
  };
}

/** Returns the reads that choose the plan of a list with conditions on other rows. */
function createSemiJoinReads(of: (collection: Collection) => Prepared, limits: SemiJoinLimits): SemiJoinReads {
  return {
    limits,
    requireSound: (collection, where) => void compileWhere(of(collection).table, where, createParameters(sqlite)),
    readValues({ collection, select, where }, most) {
      const { table, statements } = of(collection);
      const { type } = requireColumn(table, select);
      const parameters = createParameters(sqlite);
      const sql = `${compileValues(table, { collection, select, where }, parameters)} LIMIT ${most + 1}`;
      const rows = statements(sql, () => sql).all(...parameters.values) as unknown as readonly [unknown][];
      if (rows.length > most) return null;
      // A column of an existing table may hold values of another type, which no row has as its key.
      const isKey = (value: unknown): value is Key =>
        type === "integer" ? Number.isSafeInteger(value) : typeof value === "string";
      return [...new Set(rows.map(([value]) => value).filter(isKey))];
    },
    hasAtMost(collection, where, most) {
      const { table, statements } = of(collection);
      const parameters = createParameters(sqlite);
      const condition = compileWhere(table, where, parameters);
      const sql = `SELECT count(*) FROM (SELECT 1 FROM ${table.name} WHERE ${condition} LIMIT ${most + 1})`;
      return (statements(sql, () => sql).get(...parameters.values)![0] as number) <= most;
    },
    isShorter(query, rows) {
      const { table, statements } = of(query.collection);
      const parameters = createParameters(sqlite);
      // Selects a column that no index has, so that SQLite reads in the order of the list.
      const first = `SELECT ${table.revision} ${compileRest(table, { ...query, limit: rows + 1 }, parameters)}`;
      const sql = `SELECT count(*) FROM (${first})`;
      return (statements(sql, () => sql).get(...parameters.values)![0] as number) <= rows;
    },
    readAt({ collection, where, sort }, place) {
      const { table, statements } = of(collection);
      const { column } = sort[0]!;
      const { selection, readRow } = table.showing([column]);
      const parameters = createParameters(sqlite);
      const rest = compileRest(table, { collection, where, sort, limit: 1 }, parameters);
      const sql = `SELECT ${selection} ${rest} OFFSET ${place}`;
      const cells = statements(sql, () => sql).get(...parameters.values) as readonly unknown[] | undefined;
      return cells === undefined ? null : (readRow(cells).record[column] ?? null);
    },
  };
}

/** Returns the query plan of a page, without the steps that only combine its rows into a text. */
function loadPlanSteps(database: DatabaseSync, sql: string, { values }: BoundValues): readonly string[] {
  const steps = prepare(database, `EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return steps.map((step) => String(step[3])).filter((step) => !step.endsWith("(subquery-1)"));
}

/** The prepared statements of one collection. */
interface Prepared {
  readonly table: Table;
  readonly byKey: ReadRow;
  readonly by: (column: TableColumn) => ReadRow;
  readonly statements: Statements;
  ask<Given>(read: ReadStatement<Given>): Given;
  askCells<Given>(read: CellsRead<Given>): Given;
}

/** Returns the prepared statements of a collection, and creates them at the first call. */
function preparedIn(
  database: DatabaseSync,
  isLasting: IsLasting,
  getTable: ReaderOptions["getTable"],
): (collection: Collection) => Prepared {
  const cache = new WeakMap<Collection, Prepared>();
  return (collection) => {
    let found = cache.get(collection);
    if (found === undefined)
      cache.set(collection, (found = prepareFor(database, getTable(collection), isLasting(collection))));
    return found;
  };
}

function prepareFor(database: DatabaseSync, table: Table, isLasting: boolean): Prepared {
  const statements = createStatementCache(database);
  const named = createNamedCache(database);
  const read = (column: TableColumn): ReadRow => {
    const statement = prepare(database, selectBy(table, column));
    return isLasting ? rememberedRows(statement) : (value) => statement.get(value);
  };
  const byColumn = new Map<TableColumn, ReadRow>();
  return {
    table,
    byKey: read(table.id),
    by(column) {
      let cachedRead = byColumn.get(column);
      if (cachedRead === undefined) byColumn.set(column, (cachedRead = read(column)));
      return cachedRead;
    },
    statements,
    ask: ({ text, values, of }) => of(named(text).all(...values)),
    askCells: ({ text, values, of }) => of(statements(text, () => text).all(...values)),
  };
}
