import { linkAlone, splitByFirst } from "../served.ts";
import type { ListQuery, Row, Sort, Value, Where } from "../store.ts";
import { encodeOperand } from "./language/codec.ts";
import {
  createParameters,
  placeLimit,
  reading,
  type CellsRead,
  type BoundValues,
  type ReadStatement,
} from "./language/dialect.ts";
import { quote } from "./language/names.ts";
import { requireColumn, shownAmong, type Table, type TableColumn } from "./schema/table.ts";
import { compileWhere } from "./where.ts";

/** A query with a plan: its keys are read first, and then the rows with these keys. */
export interface PlannedQuery extends ListQuery {
  /**
   * Another condition, by which the rows are found. If an index has its column, and those of the list, the keys are read
   * and sorted without the rows.
   */
  readonly found?: Where;
  /** Another condition, which is checked only for the first rows of the list. No index is used for it. */
  readonly checked?: { readonly where: Where; readonly rows: number };
  /** Returns a query for the keys of a page. The query has the limit of the page. */
  readonly keys?: (values: BoundValues, query: ListQuery) => string;
}

/** Returns a read of the rows of a query. */
export function readList(table: Table, query: PlannedQuery): CellsRead<readonly Row[]> {
  const { selection, readRow } = table.showing(query.columns);
  const values = createParameters(table.dialect);
  const text = `SELECT ${selection} ${compileRest(table, query, values)}`;
  return { text, values: values.values, of: (rows) => rows.map(readRow) };
}

/** Returns the SQL that finds a row by the value of a column or of `id`. `readRow` converts the result. */
export function selectBy(table: Table, { compared, operand }: TableColumn, selection = table.selection): string {
  return `SELECT ${selection} FROM ${table.name} WHERE ${compared} = ${operand(table.dialect.place(1))}`;
}

/** Returns a read of the number of matching rows. */
export function readCount(table: Table, where: Where | null): ReadStatement<number> {
  const write = (values: BoundValues): string => {
    const conditions = where === null ? [] : [...watched(table), compileWhere(table, where, values)];
    const condition = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    return `SELECT count(*) AS counted FROM ${chooseSource(table, where, table.name)}${condition}`;
  };
  return reading(table.dialect, write, ([row]) => row!["counted"] as number);
}

/**
 * Returns the part of a query after its columns: `FROM … WHERE … ORDER BY … LIMIT …`. `also` has additional conditions
 * as SQL.
 */
export function compileRest(
  table: Table,
  query: PlannedQuery,
  values: BoundValues,
  also: readonly string[] = [],
): string {
  if (query.keys !== undefined) {
    const isFound = table.dialect.isAmong(table.id.sql, query.keys(values, query));
    return `FROM ${table.byKey} WHERE ${isFound}${compileSort(table, query, values)}`;
  }
  const { id, byKey, dialect } = table;
  if (query.found !== undefined || query.checked !== undefined) {
    const isFound = `${id.sql} IN (${compileKeys(table, query, values)})`;
    return `FROM ${byKey} WHERE ${isFound}${compileSort(table, query, values)}`;
  }
  if (also.length > 0 || splitByFirst(query) === null) return compileRows(table, query, values, also);
  return `FROM ${byKey} WHERE ${dialect.isAmong(id.sql, compileFirst(table, query, values))}${compileSort(table, query, values)}`;
}

/** Returns a query for the keys of a page. */
function compileKeys(table: Table, query: PlannedQuery, values: BoundValues): string {
  const { id, dialect } = table;
  const { found, checked, ...plain } = query;
  if (found !== undefined) return compileFound(table, query, found, values);
  if (checked === undefined) return compileFirst(table, plain, values);
  // As in `compileFirst`.
  const outside = table.existing === null ? [table.revision] : [];
  const names = [id, ...usedColumns(table, checked.where)].map(({ quoted }) => quoted).concat(outside);
  const first = compileRest(table, { ...plain, limit: checked.rows }, values);
  // The subquery has a limit, so its rows are read one after another, in its order, until the page is full.
  const rows = `(SELECT ${[...new Set(names)].join(", ")} ${first}) AS ${quote(table.collection.name)}`;
  const condition = compileWhere(table, checked.where, values);
  return `SELECT ${id.quoted} FROM ${rows} WHERE ${condition} LIMIT ${placeLimit(dialect, plain.limit, values)}`;
}

/** Returns a query for the keys of the first rows of a list. */
export function compileFirst(table: Table, query: ListQuery, values: BoundValues): string {
  const { id } = table;
  const parts = splitByFirst(query);
  if (parts === null) return `SELECT ${id.quoted} ${compileRows(table, query, values)}`;
  const sorted = query.sort.map(({ column }) => requireColumn(table, column).quoted);
  // No index has the revision. Without it, SQLite may read and sort a whole index that has all other columns.
  const names = [...new Set([id.quoted, ...sorted, table.revision])].join(", ");
  const rows = parts.map(
    (part, at) => `SELECT * FROM (SELECT ${names} ${compileRows(table, part, values)}) AS ${quote(`_part${at}`)}`,
  );
  return `SELECT ${id.quoted} FROM (${rows.join(" UNION ALL ")}) AS ${quote("_parts")}${compileSort(table, query, values)}`;
}

/** Returns a query for the keys of a page, whose rows are found by a condition. No index serves the rest of the query. */
function compileFound(table: Table, query: ListQuery, found: Where, values: BoundValues): string {
  const conditions = [...watched(table), compileWhere(table, found, values)];
  if (query.where !== null) conditions.push(withoutIndex(compileWhere(table, query.where, values)));
  if (query.after !== undefined) conditions.push(withoutIndex(compileAfter(table, query, query.after, values)));
  return `SELECT ${table.id.quoted} FROM ${table.source} WHERE ${conditions.join(" AND ")}${compileSort(table, query, values)}`;
}

/** Returns a condition that is true for the same rows, and that no database answers with an index. */
function withoutIndex(condition: string): string {
  return `((${condition}) IS NOT TRUE) IS NOT TRUE`;
}

/** Returns the columns that a condition uses, including the columns with their folded values. */
function usedColumns(table: Table, where: Where): readonly { readonly quoted: string }[] {
  if ("all" in where) return where.all.flatMap((each) => usedColumns(table, each));
  if ("any" in where) return where.any.flatMap((each) => usedColumns(table, each));
  if ("not" in where) return usedColumns(table, where.not);
  if ("word" in where) return [...table.columns.values()].flatMap(withDerived);
  return "link" in where ? [] : withDerived(requireColumn(table, where.column));
}

function withDerived({ quoted, shadow, words }: TableColumn): readonly { readonly quoted: string }[] {
  return [quoted, shadow, words].flatMap((name) => (name === null ? [] : [{ quoted: name }]));
}

/** Returns the same SQL without a plan. */
export function compileRows(table: Table, query: ListQuery, values: BoundValues, also: readonly string[] = []): string {
  let rest = `FROM ${chooseSource(table, query.where, table.source)}`;
  let word = " WHERE ";
  const narrow = (condition: string): void => {
    rest += word + condition;
    word = " AND ";
  };
  for (const each of [...watched(table), ...also]) narrow(each);
  const link = linkAlone(query);
  if (link !== null) narrow(compileLinked(table, link, query, values));
  else if (query.where !== null) narrow(compileWhere(table, query.where, values));
  if (query.after !== undefined) narrow(compileAfter(table, query, query.after, values));
  return rest + compileSort(table, query, values);
}

function compileSort(table: Table, { sort, limit }: ListQuery, values: BoundValues): string {
  const order = sort.map((each) => compileOrder(requireColumn(table, each.column), each)).join(", ");
  return `${order === "" ? "" : ` ORDER BY ${order}`} LIMIT ${placeLimit(table.dialect, limit, values)}`;
}

function chooseSource({ byKey }: Table, where: Where | null, otherwise: string): string {
  return where !== null && namesKeys(where) ? byKey : otherwise;
}

/** Returns true if only rows with certain keys can match. */
function namesKeys(where: Where): boolean {
  if ("all" in where) return where.all.some(namesKeys);
  return "operator" in where && where.column === "id" && (where.operator === "in" || where.operator === "eq");
}

/** Returns the condition for rows that are linked to one value. Reads no more ids than the page shows. */
function compileLinked(
  table: Table,
  { link, record, linked, values: [value] }: NonNullable<ReturnType<typeof linkAlone>>,
  query: ListQuery,
  values: BoundValues,
): string {
  const { dialect, id } = table;
  const declared = link.columns.find(({ name }) => name === linked)!;
  const descending = query.sort[0]!.descending === true;
  const isValue = `${quote(linked)} = ${values.place(encodeOperand(dialect, declared, value))}`;
  const after = query.after?.[0];
  const isBehind =
    after === undefined
      ? ""
      : ` AND ${quote(record)} ${descending ? "<" : ">"} ${values.place(encodeOperand(dialect, id, after))}`;
  const rows = `SELECT DISTINCT ${quote(record)} FROM ${quote(link.name)} WHERE ${isValue}${isBehind}`;
  const first = `${rows} ORDER BY ${quote(record)}${descending ? " DESC" : ""} LIMIT ${placeLimit(dialect, query.limit, values)}`;
  return dialect.isAmong(id.sql, first);
}

function compileOrder({ sql, nullable }: TableColumn, { descending, nullsFirst }: Sort): string {
  const nulls = nullable !== true ? "" : nullsFirst === true ? " NULLS FIRST" : " NULLS LAST";
  return `${sql}${descending === true ? " DESC" : ""}${nulls}`;
}

/**
 * Returns the condition that ends a read after its time limit, if the database needs one. It is the first condition, so
 * that the database checks it for every row.
 */
function watched({ dialect: { watch } }: Table): string[] {
  return watch === undefined ? [] : [watch];
}

/** Returns the columns to show, in the order of the declaration. */
export function shownIn(table: Table, names: readonly string[] | undefined): TableColumn[] {
  const all = [...table.columns.values(), ...table.computed];
  return names === undefined ? all : shownAmong(table.collection, all, names);
}

/** Returns the names of the columns of a page. Includes the key if an error about a wrong value must name the row. */
export function namesOfPage({ existing, computed, id }: Table, shown: readonly TableColumn[]): string {
  const names = shown.map(({ quoted }) => quoted);
  return (
    (existing === null && computed.length === 0) || names.includes(id.quoted) ? names : [...names, id.quoted]
  ).join(", ");
}

/**
 * Returns a condition for the rows after the given values. If all columns have the same direction, they are compared as
 * one value.
 */
function compileAfter(table: Table, { sort }: ListQuery, after: readonly Value[], values: BoundValues): string {
  if (after.length !== sort.length)
    throw new TypeError(`Sorted by ${sort.length} columns, but there are ${after.length} values to continue from`);
  if (after.length === 0) return "FALSE";
  const steps = sort.map(({ column: name, descending, nullsFirst }, at): OrderColumn => {
    const column = requireColumn(table, name);
    const cell = encodeOperand(table.dialect, column, after[at]);
    return {
      name: column.sql,
      direction: descending === true ? "<" : ">",
      nulls: column.nullable !== true ? null : nullsFirst === true ? "first" : "last",
      isNull: cell === null,
      place: () => column.bound(values.place(column.form?.convertCell?.(cell) ?? cell)),
    };
  });
  const { direction } = steps[0]!;
  if (steps.some(({ nulls }) => nulls !== null)) return compileWithNulls(steps);
  // Databases use no index for a comparison of several columns as one value if a column has another collation.
  if (table.existing !== null || steps.some((step) => step.direction !== direction)) return compileMixed(steps);
  return `(${steps.map(({ name }) => name).join(", ")}) ${direction} (${steps.map(({ place }) => place()).join(", ")})`;
}

/** A column of the order with its direction, and a placeholder for the value to continue from. */
interface OrderColumn {
  readonly name: string;
  readonly direction: "<" | ">";
  /** The position of rows without a value. Null if every row has one. */
  readonly nulls: "first" | "last" | null;
  /** True if the value to continue from is null. */
  readonly isNull: boolean;
  place(): string;
}

/** Returns `a >= ? AND (a > ? OR …)`. The first half lets the database use an index. */
function compileMixed([step, ...rest]: readonly OrderColumn[]): string {
  const { name, direction, place } = step!;
  if (rest.length === 0) return `${name} ${direction} ${place()}`;
  return `(${name} ${direction}= ${place()} AND (${name} ${direction} ${place()} OR ${compileMixed(rest)}))`;
}

/** Returns `(a > ? OR a IS NULL) OR (a = ? AND …)`. Rows without a value come after all others, or before them. */
function compileWithNulls([step, ...rest]: readonly OrderColumn[]): string {
  const behind = compileAfterOne(step!);
  if (rest.length === 0) return behind;
  const same = step!.isNull ? `${step!.name} IS NULL` : `${step!.name} = ${step!.place()}`;
  return `(${behind} OR (${same} AND ${compileWithNulls(rest)}))`;
}

function compileAfterOne({ name, direction, nulls, isNull, place }: OrderColumn): string {
  if (isNull) return nulls === "first" ? `${name} IS NOT NULL` : "FALSE";
  const behind = `${name} ${direction} ${place()}`;
  return nulls === "last" ? `(${behind} OR ${name} IS NULL)` : behind;
}
