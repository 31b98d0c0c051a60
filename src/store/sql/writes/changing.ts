import { rangedColumn } from "../../served.ts";
import {
  isKeyOf,
  type Change,
  type Collection,
  type Key,
  type KeyOf,
  type TableWrite,
  type Where,
  type WrittenValues,
} from "../../store.ts";
import { encode } from "../language/codec.ts";
import { createParameters, placeLimit, type BoundValues } from "../language/dialect.ts";
import { quote } from "../language/names.ts";
import type { Statement } from "../language/script.ts";
import type { ExistingNames, ShownColumns, Table, TableColumn } from "../schema/table.ts";
import { compileWhere } from "../where.ts";
import { assign, insertAllInto, insertInto, isSQL, requireCounter, type Assignment, type KeyFinder } from "./writes.ts";

/** A change without its collection. A driver may know only the name of the collection. */
export type AnyChange<Kind extends Change["kind"] = Change["kind"]> = Kind extends Kind
  ? Omit<Extract<Change, { readonly kind: Kind }>, "collection">
  : never;

/** The parts of a change that differ between databases. */
export interface ChangeDialect {
  /** Returns SQL for the next revision. With `ofMany`, each row gets a separate revision. */
  revision(values: BoundValues, ofMany: boolean): string;
  /** Returns SQL for a key that the caller has chosen. The key is marked as used, so the store never issues it. */
  takenKey(table: Table, place: string): string;
  /** Returns SQL for a new key. Left out if the driver makes new rows of the store's tables itself. */
  nextKey?(table: Table, values: BoundValues): string;
  /**
   * Returns the RETURNING list of a new row: the whole row in the store's own tables, only the key in existing tables.
   */
  returning(table: Table, values: BoundValues): string;
  /**
   * Returns the statement that changes one row. The statement returns the row if `shown` is set. If it changes no row,
   * it may raise the reason.
   */
  orRefused(one: ChangeOfOne): string;
  /** An additional condition on the table, for deletions. */
  readonly onlyIf: string;
  readonly findKey: KeyFinder;
}

/** A change of the row with a key. With a revision, the row is changed only if it has this revision. */
export interface ChangeOfOne {
  readonly sql: string;
  readonly table: Table;
  /** The placeholder of the key. */
  readonly key: string;
  readonly revision: number | undefined;
  /** The columns of the row that the statement returns. Null if it returns none. */
  readonly shown: ShownColumns | null;
}

/** A compiled change and its result: the new row, the key of a new row, whether a row was changed, or nothing. */
export interface CompiledChange extends Statement {
  readonly returns: "row" | "key" | "one" | "none";
}

type WriteChange = AnyChange<Exclude<Change["kind"], "require" | "forget" | "link">>;

/**
 * Compiles a change of rows to one statement. In existing tables, the row is read afterwards, because triggers may
 * change it.
 */
export function compileChange(table: Table, change: WriteChange, making: ChangeDialect): CompiledChange {
  const { existing, dialect } = table;
  const values = createParameters(dialect);
  const name = requireWrite(table, change.kind);
  const onlyIf = existing === null ? making.onlyIf : "";
  const done = (text: string, returns: CompiledChange["returns"]): CompiledChange => ({
    text,
    returns,
    values: values.values,
  });
  const ofOne = (one: Omit<ChangeOfOne, "table">): CompiledChange =>
    done(making.orRefused({ ...one, table }), one.shown === null ? "one" : "row");
  switch (change.kind) {
    case "insert": {
      const key = change.key === undefined ? null : placeKey(table, change.key, making, values);
      const set = existing === null ? ownKey(table, key, making, values) : givenKey(table, existing, key);
      const sql = insertInto(name, [...set, ...assign(table, change.values, values, making.findKey)]);
      return done(`${sql} RETURNING ${making.returning(table, values)}`, existing === null ? "row" : "key");
    }
    case "update": {
      const put = compileSet(table, change.values, making, values, false);
      const key = placeKey(table, change.key, making, values);
      const sql = `UPDATE ${name} SET ${put} WHERE ${isRow(table, key, change.revision, values)}`;
      const shown = existing === null ? table.showing(change.shown) : null;
      return ofOne({ sql, key, revision: change.revision, shown });
    }
    case "delete": {
      const key = placeKey(table, change.key, making, values);
      const sql = `DELETE FROM ${name} WHERE ${isRow(table, key, change.revision, values)}${onlyIf}`;
      return ofOne({ sql, key, revision: change.revision, shown: null });
    }
    case "updateAll": {
      const put = compileSet(table, change.values, making, values, true);
      return done(`UPDATE ${name} SET ${put} WHERE ${matching(table, change, values)}`, "none");
    }
    case "deleteAll":
      return done(`DELETE FROM ${name} WHERE ${matching(table, change, values)}${onlyIf}`, "none");
    case "add": {
      const { sql: column } = requireCounter(table, change.column);
      const key = ownKey(table, placeKey(table, change.key, making, values), making, values);
      const set = assign(table, { ...change.values, [change.column]: change.by }, values, making.findKey);
      const row = insertInto(name, [...key, ...set]);
      const sum = `${column} = coalesce(${name}.${column}, 0) + excluded.${column}, ${table.revision} = excluded.${table.revision}`;
      return done(`${row} ON CONFLICT (${table.id.sql}) DO UPDATE SET ${sum} RETURNING ${table.selection}`, "row");
    }
  }
}

/** A new row and the SQL to make it. */
export interface MadeRow {
  readonly change: AnyChange<"insert">;
  readonly making: ChangeDialect;
}

/**
 * Compiles new rows of one of the store's own tables to one statement, which returns them in order. All have the same
 * columns.
 */
export function compileInserts(table: Table, rows: readonly MadeRow[]): Statement {
  const values = createParameters(table.dialect);
  const sets = rows.map(({ change, making }) => {
    const key = change.key === undefined ? null : placeKey(table, change.key, making, values);
    return [...ownKey(table, key, making, values), ...assign(table, change.values, values, making.findKey)];
  });
  const sql = insertAllInto(requireWrite(table, "insert"), sets);
  return { text: `${sql} RETURNING ${table.selection}`, values: values.values };
}

const declaredFor: Readonly<Partial<Record<Change["kind"], TableWrite>>> = {
  insert: "create",
  update: "update",
  updateAll: "update",
  delete: "delete",
  deleteAll: "delete",
};

/** Returns the quoted name of the table to write. Throws if an existing table is not declared for such writes. */
function requireWrite({ existing, collection, name }: Table, kind: WriteChange["kind"]): string {
  if (existing === null) return name;
  const { table, writes } = collection.existing!;
  const write = declaredFor[kind];
  if (write === undefined) throw new TypeError(`A row of ${table} cannot be created by adding to it`);
  if (writes.includes(write)) return existing.name;
  throw new TypeError(`The table ${table} does not allow this kind of write: ${write}`);
}

function ownKey(table: Table, key: string | null, making: ChangeDialect, values: BoundValues): Assignment[] {
  const place = key === null ? making.nextKey?.(table, values) : making.takenKey(table, key);
  if (place === undefined) throw new TypeError(`A new row of ${table.collection.name} gets its key from the driver`);
  return [
    { sql: table.id.sql, place },
    { sql: table.revision, place: making.revision(values, false) },
  ];
}

/** Returns the assignment of a given key. Returns none if the database issues the key. */
function givenKey({ id }: Table, { quoteName }: ExistingNames, key: string | null): Assignment[] {
  return key === null ? [] : [{ sql: quoteName("id"), place: id.form!.written(key) }];
}

/**
 * Returns the SET clause of an update. A revision counter is incremented. If nothing else is set, a column is set to
 * itself, because an UPDATE needs an assignment.
 */
function compileSet(
  table: Table,
  writtenValues: WrittenValues,
  making: ChangeDialect,
  values: BoundValues,
  ofMany: boolean,
): string {
  const { existing, collection, id } = table;
  const set: Assignment[] = [];
  if (existing === null) set.push({ sql: table.revision, place: making.revision(values, ofMany) });
  set.push(...assign(table, writtenValues, values, making.findKey));
  if (existing !== null) {
    const { revision, found } = collection.existing!;
    if (typeof revision === "object") set.push({ sql: existing.revision, place: `${existing.revision} + 1` });
    if (set.length === 0) {
      const still = collection.columns.find(({ name }) => found?.[name]?.generated === false)?.name ?? id.name;
      set.push({ sql: existing.quoteName(still), place: existing.quoteName(still) });
    }
  }
  return set.map(({ sql, place }) => `${sql} = ${place}`).join(", ");
}

/**
 * Returns the condition for the row with that key, and with the expected revision if there is one. The database checks
 * both at the write, so no other writer can come in between.
 */
function isRow(
  { existing, id, revision: own }: Table,
  key: string,
  revision: number | undefined,
  values: BoundValues,
): string {
  const column = existing === null ? id.sql : id.form!.equal.of(existing.quoteName("id"));
  const only = revision === undefined ? "" : ` AND ${existing?.revision ?? own} = ${values.place(revision)}`;
  return `${column} = ${id.operand(key)}${only}`;
}

/**
 * Returns the condition for the matching rows, or for a limited number of them. In an existing table and without a
 * limit, the statement waits for rows that other transactions are changing.
 */
function matching(table: Table, { where, atMost }: AnyChange<"updateAll" | "deleteAll">, values: BoundValues): string {
  const { existing, id, name, dialect } = table;
  const condition = compileWhere(table, where, values);
  if (atMost === undefined && existing === null) return condition;
  const limit = atMost === undefined ? "" : `${compileOrder(table, where)} LIMIT ${values.place(atMost)}`;
  const select = `SELECT ${id.quoted} FROM ${name} WHERE ${condition}${limit}`;
  const key = existing === null ? id.sql : existing.quoteName("id");
  return atMost === undefined ? dialect.isLocked(key, select) : dialect.isSomeOf(key, select);
}

/** Returns the order in which the first rows of a range are taken. */
function compileOrder({ collection }: Table, where: Where): string {
  const column = rangedColumn(collection, where);
  return column === null ? "" : ` ORDER BY ${quote(column)}`;
}

/**
 * Returns SQL that counts the rows of a `require` up to a limit, and the range in which the count must be. `keep` is
 * SQL that locks rows that must exist.
 */
export function compileRequire(
  table: Table,
  { where, atLeast = 0, atMost }: AnyChange<"require">,
  keep: string,
): { readonly count: string; readonly values: BoundValues; readonly least: number; readonly most: number } {
  const values = createParameters(table.dialect);
  const most = atMost ?? atLeast;
  // Rows that must not exist cannot be locked, so the count needs no lock.
  const [upTo, lock] = atMost === undefined ? [most, keep] : [most + 1, ""];
  const found = `SELECT 1 FROM ${table.name} WHERE ${compileWhere(table, where, values)} LIMIT ${placeLimit(table.dialect, upTo, values)}${lock}`;
  const count = `SELECT count(*) FROM (${found}) AS found`;
  return { count, values, least: atLeast, most };
}

/** Returns the columns of a relation. Throws a TypeError if the table of the collection is not a relation. */
export function requireRelation({ collection, columns }: Table): {
  readonly record: TableColumn;
  readonly linked: TableColumn;
} {
  const [record, linked] = collection.columns;
  if (collection.links === undefined || record === undefined || linked === undefined)
    throw new TypeError(`The collection ${collection.name} is not a relation, so a link cannot create its rows`);
  return { record: columns.get(record.name)!, linked: columns.get(linked.name)! };
}

/** Returns the placeholder of the key, or SQL for a key that only the database knows. */
export function placeKey(
  { id, dialect }: Table,
  key: Key | KeyOf,
  { findKey }: Pick<ChangeDialect, "findKey">,
  values: BoundValues,
): string {
  const cell = isKeyOf(key) ? findKey(id, key, values) : encode(dialect, id, key);
  return isSQL(cell) ? cell.sql : values.place(cell);
}

/**
 * Returns the changes whose rows are read at the end: a later change of the same table may have altered the row, a
 * deletion may cascade to it, or an existing table may have triggers. A deletion in a relation cascades to no row,
 * because no row refers to a row of a relation.
 */
export function rowsToRead(
  changes: readonly { readonly kind: Change["kind"]; readonly collection: string | { readonly name: string } }[],
  collectionAt: (at: number) => Pick<Collection, "existing" | "links"> | null,
): number[] {
  const altered = new Set<string>();
  const found: number[] = [];
  let hasRemoved = false;
  for (let at = changes.length - 1; at >= 0; at--) {
    const { kind, collection } = changes[at]!;
    const name = typeof collection === "string" ? collection : collection.name;
    const of = collectionAt(at);
    const hasRow = kind === "insert" || kind === "update" || kind === "add";
    if (hasRow && (hasRemoved || altered.has(name) || of?.existing !== undefined)) found.push(at);
    if (kind === "delete" || kind === "deleteAll") hasRemoved ||= of?.links === undefined;
    else if (!altersNone.has(kind)) altered.add(name);
  }
  return found.reverse();
}

/** Returns the columns of the row that the outcome of a change contains. */
export function shownBy(
  table: Table,
  change: { readonly kind: Change["kind"]; readonly shown?: readonly string[] },
): ShownColumns {
  return table.showing(table.existing === null ? change.shown : undefined);
}

/** The kinds of changes that alter no existing row. */
const altersNone: ReadonlySet<Change["kind"]> = new Set(["insert", "link", "require", "forget"]);
