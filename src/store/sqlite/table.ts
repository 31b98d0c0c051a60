import { fold } from "../fold.ts";
import type { Collection, Column, Row, Value } from "../store.ts";
import { decoderOf, encode } from "./codec.ts";
import type { Cell } from "./connection.ts";

/** A collection as SQLite sees it. */
export interface Table {
  readonly collection: Collection;
  /** The quoted name. */
  readonly name: string;
  /** The columns by name, `id` first. */
  readonly columns: ReadonlyMap<string, Column>;
  /** What to select for `rowOf`. */
  readonly selection: string;
  /** The names of what a new row is made of besides its key and revision: the columns, then those that keep folded values. */
  readonly stored: readonly string[];
  rowOf(cells: readonly Cell[]): Row;
}

const tables = new WeakMap<Collection, Table>();

/** The table of a collection. */
export function tableOf(collection: Collection): Table {
  let table = tables.get(collection);
  if (table === undefined) tables.set(collection, (table = makeTable(collection)));
  return table;
}

/** A column by its declared name. Anything else is a fault of the program, and never becomes SQL. */
export function requireColumn(table: Table, name: string): Column {
  const column = table.columns.get(name);
  if (column === undefined)
    throw new TypeError(`Collection ${table.collection.name} has no column ${JSON.stringify(name)}`);
  return column;
}

export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The column beside a `folded` one that keeps its folded value. Declared names begin with a letter, so it is free. */
export function shadowOf(column: Column): string {
  return `_${column.name}_folded`;
}

/** What `eq`, `ne` and `in` look at: the folded value where the column has one. */
export function comparedBy(column: Column): string {
  return quote(column.unique === "folded" ? shadowOf(column) : column.name);
}

/** A value to compare that with. */
export function encodeCompared(column: Column, value: unknown): Cell {
  const cell = encode(column, value);
  return column.unique === "folded" && typeof cell === "string" ? fold(cell) : cell;
}

function makeTable(collection: Collection): Table {
  const id: Column = { name: "id", type: collection.key };
  const all = [id, ...collection.columns];
  return {
    collection,
    name: quote(collection.name),
    columns: new Map(all.map((column) => [column.name, column])),
    // Decimals come as text: as numbers the large ones would be refused.
    selection: [
      "_revision",
      ...all.map((column) => (column.type === "decimal" ? `CAST(${quote(column.name)} AS TEXT)` : quote(column.name))),
    ].join(", "),
    stored: [
      ...collection.columns.map(({ name }) => name),
      ...collection.columns.filter(({ unique }) => unique === "folded").map(shadowOf),
    ],
    rowOf: rowMaker(all),
  };
}

/** One loop without a branch for collections in which every cell is its value: reads by key spend most of their time here. */
function rowMaker(columns: readonly Column[]): (cells: readonly Cell[]) => Row {
  const names = columns.map((column) => column.name);
  const decoders = columns.map(decoderOf);
  const plain = decoders.every((decoder) => decoder === null);
  if (plain) {
    return (cells) => {
      const record: Record<string, Value> = {};
      for (let at = 0; at < names.length; at++) record[names[at]!] = cells[at + 1] as Value;
      return { revision: cells[0] as number, record };
    };
  }
  return (cells) => {
    const record: Record<string, Value> = {};
    for (let at = 0; at < names.length; at++) {
      const decode = decoders[at]!;
      const cell = cells[at + 1]!;
      record[names[at]!] = decode === null ? (cell as Value) : decode(cell);
    }
    return { revision: cells[0] as number, record };
  };
}
