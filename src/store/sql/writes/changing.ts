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
import { encode } from "../codec.ts";
import { parametersOf, type Parameters } from "../dialect.ts";
import { quote } from "../names.ts";
import type { Statement } from "../schema/script.ts";
import type { ExistingNames, ShownColumns, Table, TableColumn } from "../schema/table.ts";
import { compileWhere } from "../where.ts";
import { assign, insertAllInto, insertInto, isSQL, requireCounter, type Assignment, type KeyFinder } from "./writes.ts";

/** A change, whether it has its collection or that goes by its name. */
export type AnyChange<Kind extends Change["kind"] = Change["kind"]> = Kind extends Kind
  ? Omit<Extract<Change, { readonly kind: Kind }>, "collection">
  : never;

/** How a database makes what changes have in common. */
export interface Making {
  /** SQL for the next revision; `ofMany`: another one for each row. */
  revision(values: Parameters, ofMany: boolean): string;
  /** SQL for a key that comes with its row, so that it is never handed out. */
  takenKey(table: Table, place: string): string;
  /** SQL for a key that is handed out; left out where the driver makes new rows of our tables by itself. */
  nextKey?(table: Table, values: Parameters): string;
  /** What a new row tells: itself in a table of ours, its key in one of others. */
  told(table: Table, values: Parameters): string;
  /** The statement that changes one row: it tells the row where that is wanted. Where none was changed it may say why. */
  orRefused(one: ChangeOfOne): string;
  /** Written behind the condition of a removal: what has to be true of the table besides. */
  readonly onlyIf: string;
  readonly findKey: KeyFinder;
}

/** A change of the row with a key, in a state where one is asked for. */
export interface ChangeOfOne {
  readonly sql: string;
  readonly table: Table;
  /** The place of the key. */
  readonly key: string;
  readonly revision: number | undefined;
  /** The columns of the row that it tells; null if it tells none. */
  readonly shown: ShownColumns | null;
}

/** A change as it is sent, and what comes back: the row as it is now, the key of a new one, nothing of the one that was changed, or nothing at all. */
export interface CompiledChange extends Statement {
  readonly tells: "row" | "key" | "one" | "none";
}

type Writing = AnyChange<Exclude<Change["kind"], "require" | "forget" | "link">>;

/** A change of rows as one statement. What the database has made of a row of others, triggers and all, is read afterwards. */
export function compileChange(table: Table, change: Writing, making: Making): CompiledChange {
  const { existing, dialect } = table;
  const values = parametersOf(dialect);
  const name = requireWrite(table, change.kind);
  const onlyIf = existing === null ? making.onlyIf : "";
  const done = (text: string, tells: CompiledChange["tells"]): CompiledChange => ({
    text,
    tells,
    values: values.values,
  });
  const ofOne = (one: Omit<ChangeOfOne, "table">): CompiledChange =>
    done(making.orRefused({ ...one, table }), one.shown === null ? "one" : "row");
  switch (change.kind) {
    case "insert": {
      const key = change.key === undefined ? null : placeKey(table, change.key, making, values);
      const set = existing === null ? ownKey(table, key, making, values) : givenKey(table, existing, key);
      const sql = insertInto(name, [...set, ...assign(table, change.values, values, making.findKey)]);
      return done(`${sql} RETURNING ${making.told(table, values)}`, existing === null ? "row" : "key");
    }
    case "update": {
      const put = setOf(table, change.values, making, values, false);
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
      const put = setOf(table, change.values, making, values, true);
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

/** A new row, and how the database makes it. */
export interface MadeRow {
  readonly change: AnyChange<"insert">;
  readonly making: Making;
}

/** New rows of one of our tables as one statement, which tells them in their order. They are given the same columns. */
export function compileInserts(table: Table, rows: readonly MadeRow[]): Statement {
  const values = parametersOf(table.dialect);
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

/** The quoted name of what is written to. Throws where a table of others is not declared to take such writes. */
function requireWrite({ existing, collection, name }: Table, kind: Writing["kind"]): string {
  if (existing === null) return name;
  const { table, writes } = collection.existing!;
  const write = declaredFor[kind];
  if (write === undefined) throw new TypeError(`A row of ${table} is not made by adding to it`);
  if (writes.includes(write)) return existing.name;
  throw new TypeError(`The table ${table} is not declared to take writes of this kind: ${write}`);
}

function ownKey(table: Table, key: string | null, making: Making, values: Parameters): Assignment[] {
  const place = key === null ? making.nextKey?.(table, values) : making.takenKey(table, key);
  if (place === undefined) throw new TypeError(`A new row of ${table.collection.name} gets its key from the driver`);
  return [
    { sql: table.id.sql, place },
    { sql: table.revision, place: making.revision(values, false) },
  ];
}

/** What nobody gives, the database fills. */
function givenKey({ id }: Table, { nameOf }: ExistingNames, key: string | null): Assignment[] {
  return key === null ? [] : [{ sql: nameOf("id"), place: id.form!.written(key) }];
}

/** What an update sets. A counter of states goes on, and what would set nothing writes a column as it is. */
function setOf(table: Table, given: WrittenValues, making: Making, values: Parameters, ofMany: boolean): string {
  const { existing, collection, id } = table;
  const set: Assignment[] = [];
  if (existing === null) set.push({ sql: table.revision, place: making.revision(values, ofMany) });
  set.push(...assign(table, given, values, making.findKey));
  if (existing !== null) {
    const { revision, found } = collection.existing!;
    if (typeof revision === "object") set.push({ sql: existing.revision, place: `${existing.revision} + 1` });
    if (set.length === 0) {
      const still = collection.columns.find(({ name }) => found?.[name]?.generated === false)?.name ?? id.name;
      set.push({ sql: existing.nameOf(still), place: existing.nameOf(still) });
    }
  }
  return set.map(({ sql, place }) => `${sql} = ${place}`).join(", ");
}

/** The row of that key, and only in the state that is asked for, where one is: the database itself compares it, whoever else is writing. */
function isRow(
  { existing, id, revision: own }: Table,
  key: string,
  revision: number | undefined,
  values: Parameters,
): string {
  const column = existing === null ? id.sql : id.form!.equal.of(existing.nameOf("id"));
  const only = revision === undefined ? "" : ` AND ${existing?.revision ?? own} = ${values.place(revision)}`;
  return `${column} = ${id.operand(key)}${only}`;
}

/** The rows that match, or so many of them. In a table of others those that somebody else is changing are waited for. */
function matching(table: Table, { where, atMost }: AnyChange<"updateAll" | "deleteAll">, values: Parameters): string {
  const { existing, id, name, dialect } = table;
  const condition = compileWhere(table, where, values);
  if (atMost === undefined && existing === null) return condition;
  const limit = atMost === undefined ? "" : `${orderOf(table, where)} LIMIT ${values.place(atMost)}`;
  const select = `SELECT ${id.quoted} FROM ${name} WHERE ${condition}${limit}`;
  const key = existing === null ? id.sql : existing.nameOf("id");
  return atMost === undefined ? dialect.isLocked(key, select) : dialect.isSomeOf(key, select);
}

/** Some rows of a range are those that come first in it. */
function orderOf({ collection }: Table, where: Where): string {
  const column = rangedColumn(collection, where);
  return column === null ? "" : ` ORDER BY ${quote(column)}`;
}

/** How many rows a `require` has found, counted no further than it matters, and how many there have to be. `keep` locks what has to be there. */
export function compileRequire(
  table: Table,
  { where, atLeast = 0, atMost }: AnyChange<"require">,
  keep: string,
): { readonly count: string; readonly values: Parameters; readonly least: number; readonly most: number } {
  const values = parametersOf(table.dialect);
  const most = atMost ?? atLeast;
  // What must not be there cannot be kept as a row.
  const [upTo, lock] = atMost === undefined ? [most, keep] : [most + 1, ""];
  const found = `SELECT 1 FROM ${table.name} WHERE ${compileWhere(table, where, values)} LIMIT ${values.place(upTo)}${lock}`;
  const count = `SELECT count(*) FROM (${found}) AS found`;
  return { count, values, least: atLeast, most };
}

/** The columns of a relation. Throws a TypeError if the table of the collection is none. */
export function relationOf({ collection, columns }: Table): {
  readonly record: TableColumn;
  readonly linked: TableColumn;
} {
  const [record, linked] = collection.columns;
  if (collection.links === undefined || record === undefined || linked === undefined)
    throw new TypeError(`The collection ${collection.name} is no relation, so no row of it is made by a link`);
  return { record: columns.get(record.name)!, linked: columns.get(linked.name)! };
}

/** Where the key stands, or SQL for one that only the database knows. */
export function placeKey(
  { id, dialect }: Table,
  key: Key | KeyOf,
  { findKey }: Pick<Making, "findKey">,
  values: Parameters,
): string {
  const cell = isKeyOf(key) ? findKey(id, key, values) : encode(dialect, id, key);
  return isSQL(cell) ? cell.sql : values.place(cell);
}

/**
 * The changes whose rows are read at the end: a later change of the same table may have altered them, a removal takes others along (no row
 * refers to one of a relation), and of a table that was there before the database makes what it will.
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

/** Returns the columns that the outcome shows of the row of a change. */
export function shownBy(
  table: Table,
  change: { readonly kind: Change["kind"]; readonly shown?: readonly string[] },
): ShownColumns {
  return table.showing(table.existing === null ? change.shown : undefined);
}

/** The kinds of changes that alter no existing row. */
const altersNone: ReadonlySet<Change["kind"]> = new Set(["insert", "link", "require", "forget"]);
