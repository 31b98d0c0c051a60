import { isKeyOf, type KeyOf, type Value, type Where, type WrittenValues } from "../../store.ts";
import { encode, foldCell, wordsCell } from "../codec.ts";
import type { Cell, Parameters } from "../dialect.ts";
import { requireColumn, type ExistingNames, type Table, type TableColumn } from "../schema/table.ts";
import { compileWhere } from "../where.ts";

/** A column that is written: its quoted name, and what stands for its value. */
export interface Assignment {
  readonly sql: string;
  readonly place: string;
}

/** What a key becomes that an earlier change made: the key, or SQL for one that only the database knows. */
export type KeyFinder = (column: TableColumn, key: KeyOf, values: Parameters) => GivenCell;

/** What is given for a column: a value of the database's, or SQL. */
type GivenCell = Cell | { readonly sql: string };

/** Gives every value its place, and what is kept beside it. */
export function assign(table: Table, given: WrittenValues, values: Parameters, findKey: KeyFinder): Assignment[] {
  const set: Assignment[] = [];
  const find = (column: TableColumn, key: KeyOf): GivenCell => findKey(column, key, values);
  for (const name of Object.keys(given)) {
    const column = requireWritable(table, name);
    const value = given[name];
    if (value === undefined) continue;
    const cell = encodeGiven(table, column, value, find);
    if (table.existing !== null) {
      set.push(assignExisting(table.existing, column, cell, values));
      continue;
    }
    if (isSQL(cell)) {
      set.push({ sql: column.sql, place: cell.sql });
      continue;
    }
    set.push({ sql: column.sql, place: values.place(cell) });
    for (const { sql, cellOf } of besides(column)) set.push({ sql, place: values.place(cellOf(cell)) });
  }
  return set;
}

/** A column of a table that was there before gets its value in the form that it has. */
function assignExisting(
  { nameOf }: ExistingNames,
  { name, form }: TableColumn,
  cell: GivenCell,
  values: Parameters,
): Assignment {
  const sql = nameOf(name);
  if (isSQL(cell)) return { sql, place: cell.sql };
  return { sql, place: form!.written(values.place(form!.cellOf?.(cell) ?? cell)) };
}

/** A column beside another, and what it keeps of a value. */
interface Beside {
  /** The quoted name. */
  readonly sql: string;
  cellOf(cell: Cell): Cell;
}

/** What is kept beside a column: its value without regard to case, and its words. */
export function besides({ shadow, words }: TableColumn): readonly Beside[] {
  if (words === null) return shadow === null ? none : [{ sql: shadow, cellOf: foldCell }];
  const beside = { sql: words, cellOf: wordsCell };
  return shadow === null ? [beside] : [{ sql: shadow, cellOf: foldCell }, beside];
}

const none: readonly Beside[] = [];

/** A column whose values are given. */
export function requireWritable(table: Table, name: string): TableColumn {
  if (name === "id") throw new TypeError("The id of a row is its key and no value");
  return requireColumn(table, name);
}

/** A column that counts. */
export function requireCounter(table: Table, name: string): TableColumn {
  const column = requireColumn(table, name);
  if (column.type === "integer" && name !== "id") return column;
  throw new TypeError(`Column ${name} of ${table.collection.name} is no integer to add to`);
}

/** A value that is given, or the key that it stands for. In a json column an object is data, whatever its members are called. */
export function encodeGiven(
  { dialect }: Table,
  column: TableColumn,
  value: Value | KeyOf,
  findKey: (column: TableColumn, key: KeyOf) => GivenCell,
): GivenCell {
  return column.type !== "json" && isKeyOf(value) ? findKey(column, value) : encode(dialect, column, value);
}

/** A new row. */
export function insertInto(table: Table, key: string, revision: string, set: readonly Assignment[]): string {
  const names = [table.id.sql, table.revision, ...set.map(({ sql }) => sql)].join(", ");
  const places = [key, revision, ...set.map(({ place }) => place)].join(", ");
  return `INSERT INTO ${table.name} (${names}) VALUES (${places})`;
}

/** What an update sets. */
export function assignments(table: Table, revision: string, set: readonly Assignment[]): string {
  let text = `${table.revision} = ${revision}`;
  for (const { sql, place } of set) text += `, ${sql} = ${place}`;
  return text;
}

/** Written behind an insert: adds to what is there. */
export function orAdd(table: Table, { sql }: TableColumn): string {
  const sum = `${sql} = coalesce(${table.name}.${sql}, 0) + excluded.${sql}`;
  return `ON CONFLICT (${table.id.sql}) DO UPDATE SET ${sum}, ${table.revision} = excluded.${table.revision} RETURNING ${table.selection}`;
}

/** The row of that key, and only in the state that is asked for, where one is. */
export function isRow(table: Table, key: string, revision: number | undefined, values: Parameters): string {
  const only = revision === undefined ? "" : ` AND ${table.revision} = ${values.place(revision)}`;
  return `${table.id.sql} = ${key}${only}`;
}

export function updateAll(table: Table, set: string, which: Matching, values: Parameters): string {
  return `UPDATE ${table.name} SET ${set} WHERE ${matching(table, which, values)}`;
}

export function deleteAll(table: Table, which: Matching, values: Parameters): string {
  return `DELETE FROM ${table.name} WHERE ${matching(table, which, values)}`;
}

/** The rows that match, or so many of them. */
interface Matching {
  readonly where: Where;
  readonly atMost?: number;
}

function matching(table: Table, { where, atMost }: Matching, values: Parameters): string {
  const condition = compileWhere(table, where, values);
  if (atMost === undefined) return condition;
  const select = `SELECT ${table.id.sql} FROM ${table.name} WHERE ${condition} LIMIT ${values.place(atMost)}`;
  return table.dialect.isSomeOf(table.id.sql, select);
}

/** How many rows match, counted no further than it matters. */
export function countUpTo(table: Table, where: Where, most: number, lock: string, values: Parameters): string {
  const condition = compileWhere(table, where, values);
  return `SELECT count(*) FROM (SELECT 1 FROM ${table.name} WHERE ${condition} LIMIT ${values.place(most)}${lock}) AS found`;
}

export function isSQL(cell: GivenCell): cell is { readonly sql: string } {
  return typeof cell === "object" && cell !== null && "sql" in cell;
}
