import { isKeyOf, type KeyOf, type Value, type WrittenValues } from "../../store.ts";
import { encode, foldCell, wordsCell } from "../language/codec.ts";
import type { Cell, BoundValues } from "../language/dialect.ts";
import { requireColumn, type Table, type TableColumn } from "../schema/table.ts";

/** A written column: its quoted name, and the SQL of its value. */
export interface Assignment {
  readonly sql: string;
  readonly place: string;
}

/** Finds the key that an earlier change made: the key, or SQL for a key that only the database knows. */
export type KeyFinder = (column: TableColumn, key: KeyOf, values: BoundValues) => GivenCell;

/** The value for a column: a cell, or SQL. */
type GivenCell = Cell | { readonly sql: string };

/**
 * Returns the assignments of all values and of the columns that are derived from them. A value for an existing table is
 * converted to the form of its column.
 */
export function assign(
  table: Table,
  writtenValues: WrittenValues,
  values: BoundValues,
  findKey: KeyFinder,
): Assignment[] {
  const set: Assignment[] = [];
  const find = (column: TableColumn, key: KeyOf): GivenCell => findKey(column, key, values);
  for (const name of Object.keys(writtenValues)) {
    const column = requireWritable(table, name);
    const value = writtenValues[name];
    if (value === undefined) continue;
    const cell = encodeGiven(table, column, value, find);
    const sql = table.existing?.quoteName(name) ?? column.sql;
    if (isSQL(cell)) {
      set.push({ sql, place: cell.sql });
      continue;
    }
    const place = values.place(column.form?.convertCell?.(cell) ?? cell);
    set.push({ sql, place: column.form?.written(place) ?? place });
    for (const derived of listDerivedColumns(column))
      set.push({ sql: derived.sql, place: values.place(derived.deriveCell(cell)) });
  }
  return set;
}

/** A derived column, and how it is computed. */
interface DerivedColumn {
  /** The quoted name. */
  readonly sql: string;
  deriveCell(cell: Cell): Cell;
}

/** Returns the derived columns: the folded value and the words. */
export function listDerivedColumns(column: TableColumn): readonly DerivedColumn[] {
  const { shadow, words } = column;
  const folded = shadow === null ? none : [{ sql: shadow, deriveCell: (cell: Cell) => foldCell(column, cell) }];
  return words === null ? folded : [...folded, { sql: words, deriveCell: wordsCell }];
}

const none: readonly DerivedColumn[] = [];

/** Returns a column that can be written. Throws a `TypeError` for `id` and for an unknown name. */
export function requireWritable(table: Table, name: string): TableColumn {
  if (name === "id") throw new TypeError("The id of a row is its key. It cannot be one of the values");
  return requireColumn(table, name);
}

/** Returns a column that can be used as a counter. Throws a `TypeError` if it is not an integer column. */
export function requireCounter(table: Table, name: string): TableColumn {
  const column = requireColumn(table, name);
  if (column.type === "integer" && name !== "id") return column;
  throw new TypeError(`Column ${name} of ${table.collection.name} is not an integer, so nothing can be added to it`);
}

/** Encodes a value, or the key that it refers to. In a JSON column, an object is always data. */
export function encodeGiven(
  { dialect, collection }: Table,
  column: TableColumn,
  value: Value | KeyOf,
  findKey: (column: TableColumn, key: KeyOf) => GivenCell,
): GivenCell {
  return column.type !== "json" && isKeyOf(value)
    ? findKey(column, value)
    : encode(dialect, column, value, collection.name);
}

/** Returns SQL that inserts a row. The database provides the missing values. */
export function insertInto(name: string, set: readonly Assignment[]): string {
  if (set.length === 0) return `INSERT INTO ${name} DEFAULT VALUES`;
  return `INSERT INTO ${name} (${set.map(({ sql }) => sql).join(", ")}) VALUES ${compilePlaces(set)}`;
}

/** Returns SQL that inserts rows. All have the same columns in the same order. */
export function insertAllInto(name: string, [first, ...others]: readonly (readonly Assignment[])[]): string {
  const isLikeFirst = (set: readonly Assignment[]): boolean =>
    set.length === first!.length && set.every(({ sql }, at) => sql === first![at]!.sql);
  if (!others.every(isLikeFirst)) throw new TypeError(`The new rows of ${name} have different columns`);
  return [insertInto(name, first!), ...others.map(compilePlaces)].join(", ");
}

function compilePlaces(set: readonly Assignment[]): string {
  return `(${set.map(({ place }) => place).join(", ")})`;
}

/** Returns true if the value is SQL and not a cell. */
export function isSQL(cell: GivenCell): cell is { readonly sql: string } {
  return typeof cell === "object" && cell !== null && "sql" in cell;
}
