import { shownName, suggestion } from "../../../core/checking/nearest.ts";
import { isFolded } from "../../fold.ts";
import { isSearched } from "../../searched.ts";
import type { Collection, Column, ExistingTable, Row, Value } from "../../store.ts";
import { findDecoder } from "../language/codec.ts";
import type { Dialect } from "../language/dialect.ts";
import { same, type Form } from "../language/form.ts";
import { quote, formatShadowName, formatWordsColumn, formatWordsTable } from "../language/names.ts";
import { checkedValue } from "./checked.ts";
import { collectComputed, compileSource } from "./computed.ts";
import { buildKeyColumn, resolveRawName } from "./found.ts";

/** A column with the SQL that accesses it. */
export interface TableColumn extends Column {
  /** The quoted name. */
  readonly quoted: string;
  /** SQL for sorting and comparing. In the store's own tables, the quoted name. */
  readonly sql: string;
  /** SQL for `eq`, `ne` and `in`: the folded column if there is one. */
  readonly compared: string;
  /** The quoted name of the column with the folded value. Null if there is none. */
  readonly shadow: string | null;
  /** The quoted name of the column with the words. Null if the column is not searched. */
  readonly words: string | null;
  /** The SQL to select for `readRow`. */
  readonly selected: string;
  /** Returns the value of a row in the form of the store's own tables. `of` is the prefix for the row, like `t.`. */
  valueIn(of: string): string;
  /**
   * Returns the right side of a comparison for the placeholder of a value. `operand` is compared with `compared`.
   * `bound` is compared with `sql`, for ranges.
   */
  readonly operand: (place: string) => string;
  readonly bound: (place: string) => string;
  /** The SQL of the value for conditions on texts, like `contains`. */
  readonly text: string;
  /** The form of its values, for a column of an existing table or a computed one. Null for the other columns. */
  readonly form: Form | null;
}

/** A collection as SQL. All names in the SQL of the store come from here, and so from a declaration. */
export interface Table {
  readonly dialect: Dialect;
  readonly collection: Collection;
  /** Returns the table of another collection, in the same dialect. */
  readonly tableOf: (collection: Collection) => Table;
  /** SQL to read rows from: the quoted name. For an existing table, a subquery that renames its columns. */
  readonly name: string;
  /** The names of the existing table, if it is one. */
  readonly existing: ExistingNames | null;
  /** `name` with the computed columns, for queries that need them by name. */
  readonly source: string;
  /** `source` for queries that find rows by key. */
  readonly byKey: string;
  /** The columns by their declared names, `id` first. */
  readonly columns: ReadonlyMap<string, TableColumn>;
  /** The columns that SQL computes. No condition or sort order can use them. */
  readonly computed: readonly TableColumn[];
  /** The quoted name of the table with the words of the rows, if some columns are searched. */
  readonly wordsTable: string;
  readonly isSearched: boolean;
  /** The key column. */
  readonly id: TableColumn;
  /** The quoted name of the revision column. */
  readonly revision: string;
  /** The columns to select for `readRow`. */
  readonly selection: string;
  readRow(cells: readonly unknown[]): Row;
  /** Returns `selection` and `readRow` for some of the columns. Default: all. */
  showing(names?: readonly string[]): ShownColumns;
}

/** The columns of a row that are read. */
export interface ShownColumns extends Pick<Table, "selection" | "readRow"> {
  /** The number of cells that `readRow` takes: the revision and the columns. */
  readonly width: number;
}

/** The names of an existing table in SQL. */
export interface ExistingNames {
  /** The quoted name. */
  readonly name: string;
  /** Returns the quoted name of a column. */
  quoteName(column: string): string;
  /** The SQL of the revision, over the columns of the existing table. */
  readonly revision: string;
}

/** Returns a function that returns the table of a collection. The function makes each table once. */
export function createTableLookup(dialect: Dialect): (collection: Collection) => Table {
  const tables = new WeakMap<Collection, Table>();
  return function tableOf(collection) {
    let table = tables.get(collection);
    if (table === undefined) tables.set(collection, (table = makeTable(dialect, collection, tableOf)));
    return table;
  };
}

/** Returns a column by its declared name. Throws for an undeclared name, so that no name of a caller becomes SQL. */
export function requireColumn(table: Table, name: string): TableColumn {
  const column = table.columns.get(name);
  if (column === undefined)
    throw new TypeError(
      `Collection ${table.collection.name} has no column ${shownName(name)}${suggestion(name, [...table.columns.keys()])}`,
    );
  return column;
}

/** Creates the error for a write to a table that the store was not opened with. */
export function unopened(name: string): TypeError {
  return new TypeError(
    `The store was not opened with a collection ${JSON.stringify(name)}; mount its resource, or name it among the collections of a feature`,
  );
}

/**
 * Returns the SQL to read a column. `name` is the quoted name or another expression for the column. Decimals that are
 * stored as whole numbers are read as text, because the SQLite driver refuses numbers above 2^53.
 */
export function selectedAs({ ownTypes }: Dialect, { type }: Column, name: string): string {
  return type === "decimal" && !ownTypes.has(type) ? `CAST(${name} AS TEXT)` : name;
}

/**
 * Makes the SQL of a collection. A subquery gives the rows of an existing table the names of the collection, so the
 * same code reads both. Databases still use the indexes of the table.
 */
function makeTable(dialect: Dialect, collection: Collection, tableOf: Table["tableOf"]): Table {
  const all = [buildKeyColumn(collection), ...collection.columns].map((column) =>
    makeColumn(dialect, collection, column),
  );
  const existing = existingNames(dialect, collection);
  const revision = quote("_revision");
  const called = quote(collection.name);
  const source = all.map(({ name, quoted }) => `${existing?.quoteName(name) ?? quoted} AS ${quoted}`);
  const name =
    existing === null
      ? called
      : `(SELECT ${[`${existing.revision} AS ${revision}`, ...source].join(", ")} FROM ${existing.name}) AS ${called}`;
  const computed = computedColumns(dialect, collection);
  const buildShownColumns = (shown: readonly TableColumn[]): ShownColumns => ({
    selection: [revision, ...shown.map(({ selected }) => selected)].join(", "),
    readRow: rowMaker(dialect, shown),
    width: shown.length + 1,
  });
  const whole = buildShownColumns([...all, ...computed]);
  return {
    dialect,
    collection,
    tableOf,
    name,
    source: compileSource(dialect, collection, name),
    byKey: compileSource(
      dialect,
      collection,
      existing === null && dialect.byKey !== undefined ? `${name} ${dialect.byKey(collection)}` : name,
    ),
    computed,
    existing,
    wordsTable: quote(formatWordsTable(dialect, collection)),
    isSearched: collection.columns.some(isSearched),
    columns: new Map(all.map((column) => [column.name, column])),
    id: all[0]!,
    revision,
    selection: whole.selection,
    readRow: whole.readRow,
    showing: (names) =>
      names === undefined ? whole : buildShownColumns(shownAmong(collection, [...all, ...computed], names)),
  };
}

/** Returns the columns with these names, in the declared order. Throws a TypeError for an unknown name. */
export function shownAmong(
  { name: collection }: Collection,
  all: readonly TableColumn[],
  names: readonly string[],
): TableColumn[] {
  for (const name of names) {
    if (all.some((column) => column.name === name)) continue;
    const columnNames = all.map((column) => column.name);
    throw new TypeError(`Collection ${collection} has no column ${shownName(name)}${suggestion(name, columnNames)}`);
  }
  return all.filter((column) => names.includes(column.name));
}

function existingNames(dialect: Dialect, { existing, columns }: Collection): ExistingNames | null {
  if (existing === undefined) return null;
  const { revision: from } = existing;
  const quoteName = (name: string): string => quote(resolveRawName(existing, name));
  const digest = (): string => dialect.revisionSQL.digest(["id", ...columns.map(({ name }) => name)].map(quoteName));
  const revision =
    typeof from === "object"
      ? quoteName(from.column)
      : ((from === "database" ? dialect.revisionSQL.database : null) ?? digest());
  return { name: dialect.quoteTable(existing.table), quoteName, revision };
}

/** Makes a column that is read and compared by its name. */
function plainColumn(column: Column): TableColumn {
  const name = quote(column.name);
  return {
    ...column,
    quoted: name,
    sql: name,
    shadow: null,
    words: null,
    compared: name,
    selected: name,
    valueIn: (of) => `${of}${name}`,
    operand: same,
    bound: same,
    text: name,
    form: null,
  };
}

function makeColumn(dialect: Dialect, collection: Collection, column: Column): TableColumn {
  const { existing } = collection;
  if (existing !== undefined) return makeExistingColumn(dialect, collection, existing, column);
  const made = plainColumn(column);
  const shadow = isFolded(column) ? quote(formatShadowName(dialect, column)) : null;
  return {
    ...made,
    shadow,
    words: column.searched === true ? quote(formatWordsColumn(dialect, column)) : null,
    compared: column.unique === "folded" ? shadow! : dialect.comparable(column, made.sql),
    selected: selectedAs(dialect, column, made.sql),
  };
}

function makeExistingColumn(
  dialect: Dialect,
  collection: Collection,
  existing: ExistingTable,
  column: Column,
): TableColumn {
  const found = existing.found?.[column.name];
  const form = found === undefined ? "is not there" : dialect.chooseForm(column, found);
  if (typeof form === "string") throw new TypeError(`Column ${column.name} of ${existing.table} ${form}`);
  const name = quote(column.name);
  const checked = {
    column,
    form,
    isNullable: found!.nullable,
    place: `${existing.table}.${resolveRawName(existing, column.name)}`,
    field: `${collection.name}.${column.name}`,
  };
  const valueIn = (of: string): string => checkedValue(dialect, checked, of + name, `${of}"id"`);
  return {
    ...plainColumn(column),
    sql: form.order.of(name),
    compared: dialect.comparable(column, form.equal.of(name)),
    selected: selectedAs(dialect, column, valueIn("")),
    valueIn,
    operand: form.equal.operand,
    bound: form.order.operand,
    text: form.convert(name),
    form,
  };
}

/**
 * Returns the columns that SQL computes. They are read by name if the source includes them. For a single row, the
 * expression is used directly.
 */
function computedColumns(dialect: Dialect, collection: Collection): readonly TableColumn[] {
  return collectComputed(dialect, collection).map((computing) => {
    const { column, form, sql } = computing;
    const made = `(SELECT ${checkedValue(dialect, computing, `"_made"."_value"`, `"id"`)} FROM (SELECT ${sql} AS "_value") AS "_made")`;
    return {
      ...plainColumn(column),
      selected: selectedAs(dialect, column, made),
      valueIn: (of) => checkedValue(dialect, computing, of + quote(column.name), `${of}"id"`),
      form,
    };
  });
}

/**
 * Makes the function that turns cells into a row. If no cell must be converted, a loop without branches is used,
 * because reads by key spend most of their time here.
 */
function rowMaker(dialect: Dialect, columns: readonly Column[]): (cells: readonly unknown[]) => Row {
  const names = columns.map((column) => column.name);
  const decoders = columns.map((column) => findDecoder(dialect, column));
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
