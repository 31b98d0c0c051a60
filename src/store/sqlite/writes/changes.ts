import type { DatabaseSync } from "node:sqlite";
import { encode } from "../../sql/codec.ts";
import { parametersOf, type Cell } from "../../sql/dialect.ts";
import { selectBy } from "../../sql/list.ts";
import type { Table } from "../../sql/schema/table.ts";
import {
  assign,
  assignments,
  besides,
  countUpTo,
  deleteAll,
  encodeGiven,
  insertInto,
  isRow,
  orAdd,
  requireCounter,
  requireWritable,
  updateAll,
  type KeyFinder,
} from "../../sql/writes.ts";
import type { Collection, Key, Row } from "../../store.ts";
import type { Statement } from "../connection.ts";
import { sqlite, tableOf } from "../dialect.ts";
import { code, codeOf } from "../errors.ts";
import { keyIn, type NamedChange, type RowChange, type Refusal } from "../named.ts";
import { statementsOf, type Statements } from "../statements.ts";
import { conflictFinder } from "./conflicts.ts";
import type { Counters } from "./counters.ts";
import { changeExisting } from "./existing.ts";
import type { Notes } from "./notes.ts";

/** A change that was made: the row it left, where it has one of its own. */
export interface Done {
  readonly kind: "done";
  readonly collection: Collection;
  readonly row: Row | null;
}

/** Makes the changes of transactions, one at a time. */
export interface Changes {
  /** Makes the change that stands at `at`. `keys` are those of the rows that the changes before it made. */
  make(change: RowChange, at: number, keys: readonly (Key | null)[]): Done | Refusal;
  /** Which reference was broken where that is seen at the end of a transaction; null where nobody can say. */
  brokenAtEnd(changes: readonly NamedChange[]): Refusal | null;
  /** A row as it is now. */
  read(collection: Collection, key: Key): Row | null;
}

type Of<Kind extends RowChange["kind"]> = Extract<RowChange, { readonly kind: Kind }>;

export function changesOf(
  database: DatabaseSync,
  collections: ReadonlyMap<string, Collection>,
  counters: Counters,
  notes: Notes,
): Changes {
  const statements = statementsOf(database);
  const explain = conflictFinder(database, collections);
  database.function("latchkey_next_revision", () => counters.nextRevision());

  function make(change: RowChange, at: number, keys: Keys): Done | Refusal {
    const collection = collections.get(change.collection);
    if (collection === undefined)
      throw new TypeError(`The store was not opened with a collection ${JSON.stringify(change.collection)}`);
    const table = tableOf(collection);
    try {
      if (table.existing !== null && change.kind !== "require") {
        const row = changeExisting({ prepared, read }, table, change, keys);
        if (row === undefined) return missingOrStale(table, (change as Of<"update" | "delete">).key, at);
        return { kind: "done", collection, row };
      }
      switch (change.kind) {
        case "insert":
          return insert({ statements, counters, notes }, table, change, keys);
        case "update":
          return update(table, change, at, keys);
        case "delete":
          return remove(table, change, at);
        case "updateAll":
          return changeAll(prepared, table, change, keys);
        case "deleteAll":
          return removeAll(prepared, table, change);
        case "add":
          return add({ prepared, counters, notes }, table, change, keys);
        case "require":
          return requireRows(prepared, table, change, at);
      }
    } catch (error) {
      const refusal = explain(error, table, change, at, keys);
      if (refusal === null) throw error;
      return refusal;
    }
  }

  function update(table: Table, change: Of<"update">, at: number, keys: Keys): Done | Refusal {
    const { key, revision } = change;
    const values = parametersOf(sqlite);
    const next = values.place(counters.nextRevision());
    const set = assignments(table, next, assign(table, change.values, values, finderOf(keys)));
    const only = isRow(table, values.place(key), revision, values);
    const sql = `UPDATE ${table.name} SET ${set} WHERE ${only}`;
    const cells = statements(sql, () => `${sql} RETURNING ${table.selection}`).get(...values.values);
    return cells === undefined ? missingOrStale(table, key, at) : done(table, cells);
  }

  function remove(table: Table, { key, revision }: Of<"delete">, at: number): Done | Refusal {
    const values = parametersOf(sqlite);
    const sql = `DELETE FROM ${table.name} WHERE ${isRow(table, values.place(key), revision, values)}`;
    const { changes } = prepared(sql).run(...values.values);
    return changes === 0 ? missingOrStale(table, key, at) : done(table, null);
  }

  function missingOrStale(table: Table, key: Key, change: number): Refusal {
    return { kind: read(table.collection, key) === null ? "missing" : "stale", change };
  }

  function read(collection: Collection, key: Key): Row | null {
    const table = tableOf(collection);
    const cells = prepared(selectBy(table, table.id)).get(key);
    return cells === undefined ? null : table.rowOf(cells);
  }

  function prepared(sql: string): Statement {
    return statements(sql, () => sql);
  }

  return { make, brokenAtEnd: explain.atEnd, read };
}

type Prepare = (sql: string) => Statement;

interface Inserting {
  readonly statements: Statements;
  readonly counters: Counters;
  readonly notes: Notes;
}

function insert({ statements, counters, notes }: Inserting, table: Table, change: Of<"insert">, keys: Keys): Done {
  const { collection } = table;
  const cells = encodeAll(table, change.values, finderOf(keys));
  const isMade = table.computed.length > 0;
  const statement = statements(
    `insert ${collection.name}`,
    () => insertAll(table) + (isMade ? ` RETURNING ${table.selection}` : ""),
  );
  // Nothing that is not in the cells comes into a new row, and having SQLite tell it doubles the price.
  const put = (key: Key): Done => {
    const revision = counters.nextRevision();
    const made = isMade ? statement.get(key, revision, ...cells) : undefined;
    if (!isMade) statement.run(key, revision, ...cells);
    if (table.isSearched) notes.add(table, key);
    if (made !== undefined) return done(table, made);
    return done(table, [revision, key, ...cells]);
  };
  const given = change.key === undefined ? undefined : keyIn(change.key, keys);
  if (given === undefined && collection.key === "integer") return withNextKey(counters, collection, put);

  const key = encode(sqlite, table.id, given) as Key | null;
  if (key === null) throw new TypeError(`A row of ${collection.name} needs a key`);
  const made = put(key);
  if (collection.key === "integer") counters.takeKey(collection, key as number);
  return made;
}

interface Adding {
  readonly prepared: Prepare;
  readonly counters: Counters;
  readonly notes: Notes;
}

/** Tries the next key, and the one after it where somebody else's program has used it. */
function withNextKey(counters: Counters, collection: Collection, put: (key: Key) => Done): Done {
  for (;;) {
    try {
      return put(counters.nextKey(collection));
    } catch (error) {
      if (codeOf(error) !== code.primaryKey) throw error;
    }
  }
}

function changeAll(prepared: Prepare, table: Table, change: Of<"updateAll">, keys: Keys): Done {
  const values = parametersOf(sqlite);
  const set = assign(table, change.values, values, finderOf(keys));
  const sql = updateAll(table, assignments(table, "latchkey_next_revision()", set), change, values);
  prepared(sql).run(...values.values);
  return done(table, null);
}

function removeAll(prepared: Prepare, table: Table, change: Of<"deleteAll">): Done {
  const values = parametersOf(sqlite);
  prepared(deleteAll(table, change, values)).run(...values.values);
  return done(table, null);
}

function add({ prepared, counters, notes }: Adding, table: Table, change: Of<"add">, keys: Keys): Done {
  const column = requireCounter(table, change.column);
  const values = parametersOf(sqlite);
  const key = values.place(encode(sqlite, table.id, change.key));
  const revision = values.place(counters.nextRevision());
  const set = assign(table, { ...change.values, [change.column]: change.by }, values, finderOf(keys));
  const cells = prepared(`${insertInto(table, key, revision, set)} ${orAdd(table, column)}`).get(...values.values)!;
  if (table.collection.key === "integer") counters.takeKey(table.collection, change.key as number);
  if (table.isSearched) notes.add(table, change.key);
  return done(table, cells);
}

function requireRows(
  prepared: Prepare,
  table: Table,
  { where, atLeast = 0, atMost, name }: Of<"require">,
  at: number,
): Done | Refusal {
  const values = parametersOf(sqlite);
  // Beyond the limit it does not matter how many more there are.
  const sql = countUpTo(table, where, atMost === undefined ? atLeast : atMost + 1, "", values);
  const found = prepared(sql).get(...values.values)![0] as number;
  if (found < atLeast || (atMost !== undefined && found > atMost)) return { kind: "refused", change: at, name };
  return done(table, null);
}

/** The keys of the rows that the changes so far have made. */
type Keys = readonly (Key | null)[];

function finderOf(keys: Keys): KeyFinder {
  return (column, key) => encode(sqlite, column, keyIn(key, keys));
}

function done(table: Table, cells: readonly unknown[] | null): Done {
  return { kind: "done", collection: table.collection, row: cells === null ? null : table.rowOf(cells) };
}

/** The statement for a row with all its cells: the columns, then what is kept beside them. */
function insertAll(table: Table): string {
  const columns = [...table.columns.values()].slice(1);
  const set = [...columns, ...columns.flatMap(besides)].map(({ sql }) => ({ sql, place: "?" }));
  return insertInto(table, "?", "?", set);
}

/** A cell for each of these: what is given, or what the column holds where nothing is. */
function encodeAll(table: Table, values: Of<"insert">["values"], findKey: KeyFinder): Cell[] {
  for (const name of Object.keys(values)) requireWritable(table, name);
  const cells: Cell[] = [];
  const kept: Cell[] = [];
  for (const column of table.columns.values()) {
    if (column === table.id) continue;
    const cell = encodeGiven(table, column, values[column.name] ?? column.default ?? null, findKey) as Cell;
    cells.push(cell);
    for (const beside of besides(column)) kept.push(beside.cellOf(cell));
  }
  return cells.concat(kept);
}
