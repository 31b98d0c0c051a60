import { fold } from "../fold.ts";
import type { Collection, Column, Row, Value } from "../store.ts";
import { encode } from "./codec.ts";
import { quote, shadowOf } from "./names.ts";

/** A collection as PostgreSQL sees it. */
export interface Table {
  readonly collection: Collection;
  /** The quoted name. */
  readonly name: string;
  /** The columns by name, `id` first. */
  readonly columns: ReadonlyMap<string, Column>;
  /** What to select for `rowOf`. */
  readonly selection: string;
  rowOf(cells: readonly Value[]): Row;
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

/** What `eq`, `ne` and `in` look at: the folded value where the column has one, the text of JSON, which has no equality. */
export function comparedBy(column: Column): string {
  if (column.unique === "folded") return quote(shadowOf(column));
  return column.type === "json" ? `${quote(column.name)}::text` : quote(column.name);
}

/** A value to compare with what a column holds. */
export function encodeOperand(column: Column, value: unknown): string | number | boolean | null {
  // No text in PostgreSQL has U+0000, so a text with it is equal to none; U+FFFF is no character either.
  return encode(column, typeof value === "string" ? value.replaceAll("\0", "\uffff") : value);
}

/** A value to compare with `comparedBy`. */
export function encodeCompared(column: Column, value: unknown): string | number | boolean | null {
  const cell = encodeOperand(column, value);
  return column.unique === "folded" && typeof cell === "string" ? fold(cell) : cell;
}

function makeTable(collection: Collection): Table {
  const id: Column = { name: "id", type: collection.key };
  const all = [id, ...collection.columns];
  const names = all.map((column) => column.name);
  return {
    collection,
    name: quote(collection.name),
    columns: new Map(all.map((column) => [column.name, column])),
    selection: ["_revision", ...names].map(quote).join(", "),
    rowOf(cells) {
      const record: Record<string, Value> = {};
      for (let at = 0; at < names.length; at++) record[names[at]!] = cells[at + 1]!;
      return { revision: cells[0] as number, record };
    },
  };
}
