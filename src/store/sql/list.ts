import { linkAlone } from "../served.ts";
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

/** A query with an end. */
export interface BoundedQuery extends ListQuery {
  /** Only the rows up to these values of the sorted columns, and the row with these values itself. */
  readonly upTo?: readonly Value[];
}

/** Returns a read of the rows of a query. */
export function readList(table: Table, query: BoundedQuery): CellsRead<readonly Row[]> {
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
  query: BoundedQuery,
  values: BoundValues,
  also: readonly string[] = [],
): string {
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
  if (query.upTo !== undefined) narrow(compileUpTo(table, query, query.upTo, values));
  word = " ORDER BY ";
  for (const each of query.sort) {
    rest += word + compileOrder(requireColumn(table, each.column), each);
    word = ", ";
  }
  return `${rest} LIMIT ${placeLimit(table.dialect, query.limit, values)}`;
}

function chooseSource(table: Table, where: Where | null, otherwise: string): string {
  return where !== null && namesKeys(where, table) ? table.byKey : otherwise;
}

/**
 * Returns true if only rows with certain keys can match. The keys may come from another condition on the same table
 * (`among`), whose rows must be found first.
 */
function namesKeys(where: Where, { collection }: Pick<Table, "collection">): boolean {
  if ("all" in where) return where.all.some((each) => namesKeys(each, { collection }));
  if (!("column" in where) || where.column !== "id") return false;
  if ("among" in where) return where.among.collection === collection && where.among.select === "id";
  return where.operator === "in" || where.operator === "eq";
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
  const steps = buildSteps(table, sort, after, values);
  const { direction } = steps[0]!;
  if (steps.some(({ nulls }) => nulls !== null)) return compileWithNulls(steps);
  // Databases use no index for a comparison of several columns as one value if a column has another collation.
  if (table.existing !== null || steps.some((step) => step.direction !== direction)) return compileMixed(steps);
  return compileTogether(steps, direction);
}

/**
 * Returns a condition for the rows up to the given values. A sorted column that may have no value must have the same
 * value in all rows of the list.
 */
function compileUpTo(table: Table, { sort }: ListQuery, upTo: readonly Value[], values: BoundValues): string {
  const steps = buildSteps(table, sort, upTo, values)
    .filter(({ nulls }) => nulls === null)
    .map((step) => ({ ...step, direction: step.direction === "<" ? (">" as const) : ("<" as const) }));
  const { direction } = steps[0]!;
  const isMixed = table.existing !== null || steps.some((step) => step.direction !== direction);
  return isMixed ? compileMixed(steps, "=") : compileTogether(steps, `${direction}=`);
}

function compileTogether(steps: readonly OrderColumn[], operator: string): string {
  return `(${steps.map(({ name }) => name).join(", ")}) ${operator} (${steps.map(({ place }) => place()).join(", ")})`;
}

function buildSteps(
  table: Table,
  sort: ListQuery["sort"],
  after: readonly Value[],
  values: BoundValues,
): readonly OrderColumn[] {
  return sort.map(({ column: name, descending, nullsFirst }, at): OrderColumn => {
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

/**
 * Returns `a >= ? AND (a > ? OR …)`. The first half lets the database use an index. With `or` `=`, also the row with the
 * values itself matches.
 */
function compileMixed([step, ...rest]: readonly OrderColumn[], or: "" | "=" = ""): string {
  const { name, direction, place } = step!;
  if (rest.length === 0) return `${name} ${direction}${or} ${place()}`;
  return `(${name} ${direction}= ${place()} AND (${name} ${direction} ${place()} OR ${compileMixed(rest, or)}))`;
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
