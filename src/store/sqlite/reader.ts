import type { DatabaseSync } from "node:sqlite";
import type { Collection, Idempotency, Key, ListQuery, ListText, Recalled, Row, Value, Where } from "../store.ts";
import type { Cell, Statement } from "./connection.ts";
import { prepare } from "./connection.ts";
import { storeError } from "./errors.ts";
import { recallOf, type Recall } from "./idempotency.ts";
import { compileRest, selectJSON } from "./list.ts";
import { statementsOf, type Statements } from "./statements.ts";
import { comparedBy, encodeCompared, requireColumn, tableOf, type Table } from "./table.ts";
import { compileWhere } from "./where.ts";

/** Reads, answered at once in the calling thread. */
export interface Reader {
  find(collection: Collection, key: Key): Row | null;
  findBy(collection: Collection, column: string, value: Value): Row | null;
  list(query: ListQuery): readonly Row[];
  listJSON(query: ListQuery): ListText;
  count(collection: Collection, where: Where | null): number;
  recall(idempotency: Idempotency): Recalled | null;
}

/** Reads over a connection. `ready` is called before each, so that reads may share a snapshot. */
export function readerOf(database: DatabaseSync, ready: () => void): Reader {
  const prepared = new WeakMap<Collection, Prepared>();
  let recall: Recall | null = null;

  function of(collection: Collection): Prepared {
    let found = prepared.get(collection);
    if (found === undefined) prepared.set(collection, (found = prepareFor(database, collection)));
    return found;
  }

  return {
    find(collection, key) {
      try {
        ready();
        const { table, byKey } = of(collection);
        const cells = byKey.get(key);
        return cells === undefined ? null : table.rowOf(cells);
      } catch (error) {
        throw storeError(error);
      }
    },
    findBy(collection, name, value) {
      try {
        ready();
        const { table, statements } = of(collection);
        const column = requireColumn(table, name);
        const statement = statements(
          `by ${name}`,
          () => `SELECT ${table.selection} FROM ${table.name} WHERE ${comparedBy(column)} = ?`,
        );
        const cells = statement.get(encodeCompared(column, value));
        return cells === undefined ? null : table.rowOf(cells);
      } catch (error) {
        throw storeError(error);
      }
    },
    list(query) {
      try {
        ready();
        const { table, statements } = of(query.collection);
        const parameters: Cell[] = [];
        const rest = compileRest(table, query, parameters);
        return statements(rest, () => `SELECT ${table.selection} ${rest}`)
          .all(...parameters)
          .map(table.rowOf);
      } catch (error) {
        throw storeError(error);
      }
    },
    listJSON(query) {
      try {
        ready();
        return listJSON(of(query.collection), query);
      } catch (error) {
        throw storeError(error);
      }
    },
    count(collection, where) {
      try {
        ready();
        const { table, statements } = of(collection);
        const parameters: Cell[] = [];
        const condition = where === null ? "" : ` WHERE ${compileWhere(table, where, parameters)}`;
        const cells = statements(`count${condition}`, () => `SELECT count(*) FROM ${table.name}${condition}`).get(
          ...parameters,
        );
        return cells![0] as number;
      } catch (error) {
        throw storeError(error);
      }
    },
    recall(idempotency) {
      try {
        ready();
        recall ??= recallOf(database);
        return recall(idempotency);
      } catch (error) {
        throw storeError(error);
      }
    },
  };
}

/** The statements of one collection. */
interface Prepared {
  readonly table: Table;
  readonly byKey: Statement;
  readonly statements: Statements;
}

function prepareFor(database: DatabaseSync, collection: Collection): Prepared {
  const table = tableOf(collection);
  return {
    table,
    byKey: prepare(database, `SELECT ${table.selection} FROM ${table.name} WHERE "id" = ?`),
    statements: statementsOf(database),
  };
}

/** Joined here: for pages of up to a hundred records faster than an aggregate in SQLite, and the first and the last are at hand. */
function listJSON({ table, statements }: Prepared, query: ListQuery): ListText {
  const parameters: Cell[] = [];
  // One more than asked for tells whether there are more.
  const rest = compileRest(table, { ...query, limit: query.limit + 1 }, parameters);
  const shape = `json ${query.columns === undefined ? "*" : query.columns.join()} ${rest}`;
  const rows = statements(shape, () => `SELECT ${selectJSON(table, query)} ${rest}`).all(...parameters);
  const count = Math.min(rows.length, query.limit);
  const more = rows.length > count;
  if (count === 0) return { json: "[]", count, more, first: null, last: null };

  let json = "[";
  for (let at = 0; at < count; at++) json += at === 0 ? (rows[at]![0] as string) : `,${rows[at]![0] as string}`;
  return {
    json: `${json}]`,
    count,
    more,
    // Read when asked for: most pages need one of them or none.
    get first() {
      return sortedValues(rows[0]!, query);
    },
    get last() {
      return sortedValues(rows[count - 1]!, query);
    },
  };
}

/** Read from the record, or from what stands beside it where the record does not show them. */
function sortedValues([record, beside]: readonly Cell[], { sort }: ListQuery): Value[] {
  const values = JSON.parse((beside ?? record) as string) as Record<string, Value>;
  return sort.map(({ column }) => values[column]!);
}
