import type { DatabaseSync } from "node:sqlite";
import type { Collection, Idempotency, Key, ListQuery, ListText, Recalled, Row, Value, Where } from "../store.ts";
import type { Cell, Statement } from "./connection.ts";
import { prepare } from "./connection.ts";
import { storeError } from "./errors.ts";
import { recallOf, type Recall } from "./idempotency.ts";
import { compileRest } from "./list.ts";
import { pagesOf } from "./pages.ts";
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

/** Reads over a connection. `ready` is called before each, so that reads may share a snapshot; `version` changes whenever anyone has committed. */
export function readerOf(database: DatabaseSync, ready: () => void, version: () => number): Reader {
  const readPage = pagesOf(version);
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
        const { table, statements } = of(query.collection);
        return readPage(table, statements, query);
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
