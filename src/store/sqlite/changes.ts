import type { DatabaseSync } from "node:sqlite";
import { fold } from "../fold.ts";
import type { Collection, Column, Key, Row } from "../store.ts";
import { encode } from "./codec.ts";
import { conflictFinder } from "./conflicts.ts";
import type { Cell } from "./connection.ts";
import type { Counters } from "./counters.ts";
import { code, codeOf } from "./errors.ts";
import { keyIn, type NamedChange, type Refusal } from "./named.ts";
import { statementsOf } from "./statements.ts";
import { quote, requireColumn, shadowOf, tableOf, type Table } from "./table.ts";
import { compileWhere } from "./where.ts";

/** A change that was made: the row it left, where it has one of its own. */
export interface Done {
  readonly kind: "done";
  readonly collection: Collection;
  readonly row: Row | null;
}

/** Makes the changes of transactions, one at a time. */
export interface Changes {
  /** Makes the change that stands at `at`. `keys` are those of the rows that the changes before it made. */
  make(change: NamedChange, at: number, keys: readonly (Key | null)[]): Done | Refusal;
  /** A row as it is now. */
  read(collection: Collection, key: Key): Row | null;
}

type Of<Kind extends NamedChange["kind"]> = Extract<NamedChange, { readonly kind: Kind }>;

export function changesOf(
  database: DatabaseSync,
  collections: ReadonlyMap<string, Collection>,
  counters: Counters,
): Changes {
  const statements = statementsOf(database);
  const explain = conflictFinder(database, collections);
  database.function("latchkey_next_revision", () => counters.nextRevision());

  function make(change: NamedChange, at: number, keys: readonly (Key | null)[]): Done | Refusal {
    const collection = collections.get(change.collection);
    if (collection === undefined)
      throw new TypeError(`The store was not opened with a collection ${JSON.stringify(change.collection)}`);
    const table = tableOf(collection);
    try {
      switch (change.kind) {
        case "insert":
          return insert(table, change, keys);
        case "update":
          return update(table, change, at, keys);
        case "delete":
          return remove(table, change, at);
        case "updateAll":
          return updateAll(table, change, keys);
        case "deleteAll":
          return deleteAll(table, change);
        case "add":
          return add(table, change, keys);
        case "require":
          return requireRows(table, change, at);
      }
    } catch (error) {
      const refusal = explain(error, table, change, at, keys);
      if (refusal === null) throw error;
      return refusal;
    }
  }

  function insert(table: Table, change: Of<"insert">, keys: readonly (Key | null)[]): Done {
    const { collection } = table;
    const cells = encodeAll(table, change.values, keys);
    const statement = statements(`insert ${collection.name}`, () => insertSQL(table, table.stored));
    // Nothing that is not in the cells comes into a new row, and having SQLite tell it doubles the price.
    const put = (key: Key): Done => {
      const revision = counters.nextRevision();
      statement.run(key, revision, ...cells);
      return done(table, [revision, key, ...cells]);
    };
    const given = change.key === undefined ? undefined : keyIn(change.key, keys);
    if (given === undefined && collection.key === "integer") return withNextKey(collection, put);

    const key = encode(table.columns.get("id")!, given) as Key | null;
    if (key === null) throw new TypeError(`A row of ${collection.name} needs a key`);
    const made = put(key);
    if (collection.key === "integer") counters.takeKey(collection, key as number);
    return made;
  }

  /** Tries the next key, and the one after it where somebody else's program has used it. */
  function withNextKey(collection: Collection, put: (key: Key) => Done): Done {
    for (;;) {
      try {
        return put(counters.nextKey(collection));
      } catch (error) {
        if (codeOf(error) !== code.primaryKey) throw error;
      }
    }
  }

  function update(
    table: Table,
    { key, values, revision }: Of<"update">,
    at: number,
    keys: readonly (Key | null)[],
  ): Done | Refusal {
    const set = assign(table, values, keys);
    const only = revision === undefined ? "" : ` AND "_revision" = ?`;
    const statement = statements(
      `update ${table.collection.name} ${set.names.join()}${only}`,
      () =>
        `UPDATE ${table.name} SET ${["_revision", ...set.names].map((name) => `${quote(name)} = ?`).join(", ")} WHERE "id" = ?${only} RETURNING ${table.selection}`,
    );
    const parameters = [counters.nextRevision(), ...set.cells, key];
    if (revision !== undefined) parameters.push(revision);
    const cells = statement.get(...parameters);
    return cells === undefined ? missingOrStale(table, key, at) : done(table, cells);
  }

  function remove(table: Table, { key, revision }: Of<"delete">, at: number): Done | Refusal {
    const only = revision === undefined ? "" : ` AND "_revision" = ?`;
    const statement = statements(
      `delete ${table.collection.name}${only}`,
      () => `DELETE FROM ${table.name} WHERE "id" = ?${only}`,
    );
    const { changes } = revision === undefined ? statement.run(key) : statement.run(key, revision);
    return changes === 0 ? missingOrStale(table, key, at) : done(table, null);
  }

  function updateAll(table: Table, { where, values }: Of<"updateAll">, keys: readonly (Key | null)[]): Done {
    const { names, cells } = assign(table, values, keys);
    const parameters = [...cells];
    const condition = compileWhere(table, where, parameters);
    const assignments = [`"_revision" = latchkey_next_revision()`, ...names.map((name) => `${quote(name)} = ?`)].join(
      ", ",
    );
    statements(
      `updateAll ${table.collection.name} ${names.join()} ${condition}`,
      () => `UPDATE ${table.name} SET ${assignments} WHERE ${condition}`,
    ).run(...parameters);
    return done(table, null);
  }

  function deleteAll(table: Table, { where }: Of<"deleteAll">): Done {
    const parameters: Cell[] = [];
    const condition = compileWhere(table, where, parameters);
    statements(
      `deleteAll ${table.collection.name} ${condition}`,
      () => `DELETE FROM ${table.name} WHERE ${condition}`,
    ).run(...parameters);
    return done(table, null);
  }

  function add(table: Table, { key, column, by, values }: Of<"add">, keys: readonly (Key | null)[]): Done {
    const { collection } = table;
    const { type } = requireColumn(table, column);
    if (type !== "integer" || column === "id")
      throw new TypeError(`Column ${column} of ${collection.name} is no integer to add to`);
    const set = assign(table, { ...values, [column]: by }, keys);
    const name = quote(column);
    const statement = statements(`add ${collection.name} ${column} ${set.names.join()}`, () =>
      insertSQL(
        table,
        set.names,
        `ON CONFLICT ("id") DO UPDATE SET ${name} = coalesce(${table.name}.${name}, 0) + excluded.${name}, "_revision" = excluded."_revision" RETURNING ${table.selection}`,
      ),
    );
    const cells = statement.get(encode(table.columns.get("id")!, key), counters.nextRevision(), ...set.cells)!;
    if (collection.key === "integer") counters.takeKey(collection, key as number);
    return done(table, cells);
  }

  function requireRows(table: Table, { where, atLeast = 0, atMost, name }: Of<"require">, at: number): Done | Refusal {
    const parameters: Cell[] = [];
    const condition = compileWhere(table, where, parameters);
    // Beyond the limit it does not matter how many more there are.
    parameters.push(atMost === undefined ? atLeast : atMost + 1);
    const statement = statements(
      `require ${table.collection.name} ${condition}`,
      () => `SELECT count(*) FROM (SELECT 1 FROM ${table.name} WHERE ${condition} LIMIT ?)`,
    );
    const found = statement.get(...parameters)![0] as number;
    if (found < atLeast || (atMost !== undefined && found > atMost)) return { kind: "refused", change: at, name };
    return done(table, null);
  }

  function missingOrStale(table: Table, key: Key, change: number): Refusal {
    const there = statements(`there ${table.collection.name}`, () => `SELECT 1 FROM ${table.name} WHERE "id" = ?`).get(
      key,
    );
    return { kind: there === undefined ? "missing" : "stale", change };
  }

  function read(collection: Collection, key: Key): Row | null {
    const table = tableOf(collection);
    const cells = statements(
      `read ${collection.name}`,
      () => `SELECT ${table.selection} FROM ${table.name} WHERE "id" = ?`,
    ).get(key);
    return cells === undefined ? null : table.rowOf(cells);
  }

  return { make, read };
}

function done(table: Table, cells: readonly Cell[] | null): Done {
  return { kind: "done", collection: table.collection, row: cells === null ? null : table.rowOf(cells) };
}

function insertSQL(table: Table, names: readonly string[], onConflict = ""): string {
  const all = ["id", "_revision", ...names];
  return `INSERT INTO ${table.name} (${all.map(quote).join(", ")}) VALUES (${all.map(() => "?").join(", ")}) ${onConflict}`;
}

/** A cell for each of the stored columns: what is given, or what the column holds where nothing is. */
function encodeAll(table: Table, values: NamedValues, keys: readonly (Key | null)[]): Cell[] {
  for (const name of Object.keys(values)) requireWritable(table, name);
  const cells: Cell[] = [];
  const shadows: Cell[] = [];
  for (const column of table.collection.columns) {
    const cell = encodeGiven(column, values[column.name] ?? column.default ?? null, keys);
    cells.push(cell);
    if (column.unique === "folded") shadows.push(foldCell(cell));
  }
  return cells.concat(shadows);
}

/** What is to be written: the names of columns, and their cells in the same order. */
interface Assignments {
  readonly names: readonly string[];
  readonly cells: readonly Cell[];
}

function assign(table: Table, values: NamedValues, keys: readonly (Key | null)[]): Assignments {
  const names: string[] = [];
  const cells: Cell[] = [];
  for (const name of Object.keys(values)) {
    const column = requireWritable(table, name);
    const given = values[name];
    if (given === undefined) continue;
    const cell = encodeGiven(column, given, keys);
    names.push(name);
    cells.push(cell);
    if (column.unique === "folded") {
      names.push(shadowOf(column));
      cells.push(foldCell(cell));
    }
  }
  return { names, cells };
}

function requireWritable(table: Table, name: string): Column {
  if (name === "id") throw new TypeError("The id of a row is its key and no value");
  return requireColumn(table, name);
}

/** In a json column an object is data, whatever its members are called. */
function encodeGiven(column: Column, given: NamedValues[string], keys: readonly (Key | null)[]): Cell {
  return encode(column, column.type === "json" ? given : keyIn(given, keys));
}

function foldCell(cell: Cell): Cell {
  return typeof cell === "string" ? fold(cell) : null;
}

type NamedValues = Of<"insert">["values"];
