import type { DatabaseSync } from "node:sqlite";
import { replaceCollections } from "../../inner-collections.ts";
import { encode } from "../../sql/language/codec.ts";
import type { Cell } from "../../sql/language/dialect.ts";
import { selectBy } from "../../sql/list.ts";
import { unopened, type ShownColumns, type Table, type TableColumn } from "../../sql/schema/table.ts";
import { compileChange, compileRequire, shownBy, type ChangeDialect } from "../../sql/writes/changing.ts";
import type { Refusal } from "../../sql/writes/refusals.ts";
import { listDerivedColumns, encodeGiven, insertInto, requireWritable } from "../../sql/writes/writes.ts";
import { OVERTAKEN, type Collection, type Key, type KeyOf, type Row, type Where } from "../../store.ts";
import { type PreparedStatement, type Statements, createStatementCache } from "../connection/connection.ts";
import { sqlite, getTable } from "../dialect.ts";
import { keyIn, type NamedChange, type NamedRequirement, type RowChange } from "../named.ts";
import { conflictFinder } from "./conflicts.ts";
import { withFreeKeys, type Counters } from "./counters.ts";
import { changeRunner } from "./deep-cascades.ts";
import { linksOver } from "./links.ts";
import type { Notes } from "./notes.ts";

/** A completed change, with the row if it changed exactly one row. */
export interface CompletedChange {
  readonly kind: "done";
  /** Null for a `forget`, which changes no rows. */
  readonly collection: Collection | null;
  readonly row: Row | null;
}

/** Makes the changes of transactions, one at a time. */
export interface Changes {
  /** Makes the change with the index `at`. `keys` are the keys of the rows from the changes before it. */
  make(change: RowChange, at: number, keys: readonly (Key | null)[]): CompletedChange | Refusal;
  /** Returns true if at least one row matches. */
  isMet(requirement: NamedRequirement): boolean;
  /**
   * Returns the refusal if SQLite has found a violated reference at the end of the transaction. Returns null if the
   * reference is unknown.
   */
  brokenAtEnd(changes: readonly NamedChange[]): Refusal | null;
  /** Reads a row with the columns of `shown`. Default: all columns. */
  read(collection: Collection, key: Key, shown?: ShownColumns): Row | null;
}

type Of<Kind extends RowChange["kind"]> = Extract<RowChange, { readonly kind: Kind }>;

export function createChanges(
  database: DatabaseSync,
  collections: Collections,
  counters: Counters,
  notes: Notes,
): Changes {
  const statements = createStatementCache(database);
  const prepared = (sql: string): PreparedStatement => statements(sql, () => sql);
  const explain = conflictFinder(database, collections);
  database.function("latchkey_next_revision", () => counters.nextRevision());
  let currentKeys: ChangeKeys = [];
  const link = linksOver(database, statements, counters);
  const runChange = changeRunner(database);
  const making = makingWith(counters, () => currentKeys);

  function isMet(requirement: NamedRequirement): boolean {
    const table = getTable(requireOpened(collections, requirement.collection));
    const { count, values, least } = compileRequire(table, { ...aRow, ...withInner(collections, requirement) }, "");
    return (prepared(count).get(...values.values)![0] as number) >= least;
  }

  function make(named: RowChange, at: number, keys: ChangeKeys): CompletedChange | Refusal {
    const collection = requireOpened(collections, named.collection);
    const change = "where" in named ? withInner(collections, named) : named;
    const table = getTable(collection);
    try {
      if (change.kind === "require") return requireRows(prepared, table, change, at);
      if (change.kind === "insert" && table.existing === null)
        return insert({ statements, counters, notes }, table, change, keys);
      if (change.kind === "link") return { kind: "done", collection, row: link(table, change, keys) };
      if (isKeyless(table, change)) return { kind: "unfit", change: at, column: "id" };
      const row = makeCompiled(table, change, keys);
      if (row !== undefined) return { kind: "done", collection, row };
      // A trigger of the table has skipped the insert.
      if (change.kind === "insert") return { kind: "unfit", change: at, column: null };
      return { kind: read(collection, (change as Of<"update">).key) === null ? "missing" : "stale", change: at };
    } catch (error) {
      const refusal = explain(error, table, change, at, keys);
      if (refusal === null) throw error;
      return refusal;
    }
  }

  /** Returns the row after the change: null if it has no single row, undefined if no row matched its conditions. */
  function makeCompiled(
    table: Table,
    change: Exclude<RowChange, Of<"require" | "link">>,
    keys: ChangeKeys,
  ): Row | null | undefined {
    currentKeys = keys;
    const { text, values, returns } = compileChange(table, change, making);
    const statement = prepared(text);
    switch (returns) {
      case "row": {
        const cells = statement.get(...values);
        if (change.kind === "add") keyIsTaken({ counters, notes }, table, change.key);
        return cells === undefined ? undefined : shownBy(table, change).readRow(cells);
      }
      case "key": {
        const key = madeKey(table, statement.get(...values));
        // The row is read again, because a trigger may have changed or deleted it.
        return key === undefined ? undefined : (read(table.collection, key) ?? undefined);
      }
      case "one": {
        if (!runChange(statement, table, { text, values })) return undefined;
        return change.kind === "update" ? (read(table.collection, change.key) ?? undefined) : null;
      }
      case "none":
        runChange(statement, table, { text, values });
        return null;
    }
  }

  function read(collection: Collection, key: Key, shown: ShownColumns = getTable(collection).showing()): Row | null {
    const table = getTable(collection);
    const cells = prepared(selectBy(table, table.id, shown.selection)).get(key);
    return cells === undefined ? null : shown.readRow(cells);
  }

  return { make, isMet, brokenAtEnd: explain.atEnd, read };
}

type Collections = ReadonlyMap<string, Collection>;

function requireOpened(collections: Collections, name: string): Collection {
  const collection = collections.get(name);
  if (collection === undefined) throw unopened(name);
  return collection;
}

/** Returns a change with the opened collections in its condition. */
function withInner<T extends { readonly where: Where }>(collections: Collections, named: T): T {
  return { ...named, where: replaceCollections(named.where, ({ name }) => requireOpened(collections, name)) };
}

/** Returns the key that an insert has returned. Returns undefined if a trigger of the table has skipped the insert. */
function madeKey({ collection }: Table, cells: readonly unknown[] | undefined): Key | undefined {
  const [key] = (cells ?? []) as [key?: Key | null];
  if (key === null) throw new TypeError(`A new row of ${collection.existing!.table} has no key`);
  return key;
}

const aRow = { kind: "require", atLeast: 1, name: OVERTAKEN } as const;

function keyIsTaken({ counters, notes }: Omit<Inserting, "statements">, table: Table, key: Key): void {
  if (table.collection.key === "integer") counters.takeKey(table.collection, key as number);
  if (table.isSearched) notes.add(table, key);
}

/**
 * Returns true if a new row has no key and SQLite would accept it. SQLite accepts NULL in a key that is not an integer.
 */
function isKeyless({ collection: { existing } }: Table, change: RowChange): boolean {
  const key = existing?.found?.["id"];
  return change.kind === "insert" && change.key === undefined && key?.nullable === true && !key.filled;
}

/**
 * Returns the parts of the SQL of changes that are special to SQLite. `getKeys` returns the keys of the earlier
 * changes.
 */
function makingWith(counters: Counters, getKeys: () => ChangeKeys): ChangeDialect {
  return {
    revision: (values, ofMany) => (ofMany ? "latchkey_next_revision()" : values.place(counters.nextRevision())),
    takenKey: (_, place) => place,
    returning: ({ existing }) => existing!.quoteName("id"),
    // The result of the statement shows whether it changed a row, so the SQL needs no additional check.
    orRefused: ({ sql, shown }) => (shown === null ? sql : `${sql} RETURNING ${shown.selection}`),
    // No condition is needed: this connection has the write lock, and the tables were checked before.
    onlyIf: "",
    findKey: (column, key) => encode(sqlite, column, keyIn(key, getKeys())),
  };
}

function requireRows(
  prepared: (sql: string) => PreparedStatement,
  table: Table,
  change: Of<"require">,
  at: number,
): CompletedChange | Refusal {
  const { count, values, least, most } = compileRequire(table, change, "");
  const found = prepared(count).get(...values.values)![0] as number;
  if (found < least || found > most) return { kind: "refused", change: at, name: change.name };
  return { kind: "done", collection: table.collection, row: null };
}

interface Inserting {
  readonly statements: Statements;
  readonly counters: Counters;
  readonly notes: Notes;
}

/** Inserts a row into a table that Latchkey has created. All rows of a table share one statement. */
function insert(
  { statements, counters, notes }: Inserting,
  table: Table,
  change: Of<"insert">,
  keys: ChangeKeys,
): CompletedChange {
  const { collection } = table;
  const cells = encodeAll(table, change.values, keys);
  const isMade = table.computed.length > 0;
  const statement = statements(
    `insert ${collection.name}`,
    () => insertAll(table) + (isMade ? ` RETURNING ${table.selection}` : ""),
  );
  // A new row contains only these cells. Reading it back from SQLite would double the cost.
  const put = (key: Key): CompletedChange => {
    const revision = counters.nextRevision();
    const made = isMade ? statement.get(key, revision, ...cells) : undefined;
    if (!isMade) statement.run(key, revision, ...cells);
    if (table.isSearched) notes.add(table, key);
    return { kind: "done", collection, row: table.readRow(made ?? [revision, key, ...cells]) };
  };
  const givenKey = change.key === undefined ? undefined : keyIn(change.key, keys);
  if (givenKey === undefined && collection.key === "integer")
    return withFreeKeys(() => put(counters.nextKey(collection)));

  const key = encode(sqlite, table.id, givenKey) as Key | null;
  if (key === null) throw new TypeError(`A row of ${collection.name} needs a key`);
  const made = put(key);
  if (collection.key === "integer") counters.takeKey(collection, key as number);
  return made;
}

/** The keys of the rows from the changes so far. */
type ChangeKeys = readonly (Key | null)[];

/** Returns the INSERT statement for a row with all its cells: first the columns, then the derived values. */
function insertAll(table: Table): string {
  const columns = [...table.columns.values()].slice(1);
  const all = [table.id, { sql: table.revision }, ...columns, ...columns.flatMap(listDerivedColumns)];
  return insertInto(
    table.name,
    all.map(({ sql }) => ({ sql, place: "?" })),
  );
}

/** Returns a cell for each column of the statement: the given value, the default, or null. */
function encodeAll(table: Table, values: Of<"insert">["values"], keys: ChangeKeys): Cell[] {
  const findKey = (column: TableColumn, key: KeyOf): Cell => encode(sqlite, column, keyIn(key, keys));
  for (const name of Object.keys(values)) requireWritable(table, name);
  const cells: Cell[] = [];
  const shadowCells: Cell[] = [];
  for (const column of table.columns.values()) {
    if (column === table.id) continue;
    const cell = encodeGiven(table, column, values[column.name] ?? column.default ?? null, findKey) as Cell;
    cells.push(cell);
    for (const derived of listDerivedColumns(column)) shadowCells.push(derived.deriveCell(cell));
  }
  return cells.concat(shadowCells);
}
