import { shownName, suggestion } from "../../../checking/nearest.ts";
import { isFolded } from "../../fold.ts";
import { isSearched } from "../../searched.ts";
import type { Collection, Column, Row, Value } from "../../store.ts";
import { decoderOf } from "../codec.ts";
import type { Dialect } from "../dialect.ts";
import { quote, shadowOf, wordsColumnOf, wordsTableOf } from "../names.ts";

/** A column as SQL speaks of it. */
export interface TableColumn extends Column {
  /** The quoted name. */
  readonly sql: string;
  /** What `eq`, `ne` and `in` look at: the folded value where there is one. */
  readonly compared: string;
  /** The quoted name of the column that keeps the folded value; null where there is none. */
  readonly shadow: string | null;
  /** The quoted name of the column that keeps the words of a searched one; null where it is not searched. */
  readonly words: string | null;
  /** What is selected for `rowOf`. */
  readonly selected: string;
}

/** A collection as a database sees it. Every name in SQL comes from here, and so from a declaration. */
export interface Table {
  readonly dialect: Dialect;
  readonly collection: Collection;
  /** The quoted name. */
  readonly name: string;
  /** The columns by their declared names, `id` first. */
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** The quoted name of the table that has the words of the rows, where some columns are searched. */
  readonly wordsTable: string;
  readonly isSearched: boolean;
  /** The column of the key. */
  readonly id: TableColumn;
  /** The quoted name of the column of the revision. */
  readonly revision: string;
  /** What to select for `rowOf`. */
  readonly selection: string;
  rowOf(cells: readonly unknown[]): Row;
}

/** The tables of collections; each is made once. */
export function tablesOf(dialect: Dialect): (collection: Collection) => Table {
  const tables = new WeakMap<Collection, Table>();
  return (collection) => {
    let table = tables.get(collection);
    if (table === undefined) tables.set(collection, (table = makeTable(dialect, collection)));
    return table;
  };
}

/** A column by its declared name. Anything else is a fault of the program, and never becomes SQL. */
export function requireColumn(table: Table, name: string): TableColumn {
  const column = table.columns.get(name);
  if (column === undefined)
    throw new TypeError(
      `Collection ${table.collection.name} has no column ${shownName(name)}${suggestion(name, [...table.columns.keys()])}`,
    );
  return column;
}

/** What is read of a column, under any name. Decimals that are whole numbers come as text: as numbers the large ones would be refused. */
export function selectedAs({ ownTypes }: Dialect, { type }: Column, name: string): string {
  return type === "decimal" && !ownTypes.has(type) ? `CAST(${name} AS TEXT)` : name;
}

function makeTable(dialect: Dialect, collection: Collection): Table {
  const id = makeColumn(dialect, { name: "id", type: collection.key });
  const all = [id, ...collection.columns.map((column) => makeColumn(dialect, column))];
  const revision = quote("_revision");
  return {
    dialect,
    collection,
    name: quote(collection.name),
    wordsTable: quote(wordsTableOf(dialect, collection)),
    isSearched: collection.columns.some(isSearched),
    columns: new Map(all.map((column) => [column.name, column])),
    id,
    revision,
    selection: [revision, ...all.map(({ selected }) => selected)].join(", "),
    rowOf: rowMaker(dialect, all),
  };
}

function makeColumn(dialect: Dialect, column: Column): TableColumn {
  const sql = quote(column.name);
  const shadow = isFolded(column) ? quote(shadowOf(dialect, column)) : null;
  const words = column.searched === true ? quote(wordsColumnOf(dialect, column)) : null;
  const compared = column.unique === "folded" ? shadow! : dialect.comparable(column, sql);
  return { ...column, sql, shadow, words, compared, selected: selectedAs(dialect, column, sql) };
}

/** One loop without a branch for collections in which every cell is its value: reads by key spend most of their time here. */
function rowMaker(dialect: Dialect, columns: readonly Column[]): (cells: readonly unknown[]) => Row {
  const names = columns.map((column) => column.name);
  const decoders = columns.map((column) => decoderOf(dialect, column));
  if (decoders.every((decoder) => decoder === null)) {
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
      const cell = cells[at + 1];
      record[names[at]!] = decode === null ? (cell as Value) : decode(cell);
    }
    return { revision: cells[0] as number, record };
  };
}
