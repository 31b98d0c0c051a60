import { linkAlone } from "../served.ts";
import type { ListQuery, Row, Sort, Value, Where } from "../store.ts";
import { encodeOperand } from "./codec.ts";
import { parametersOf, reading, type CellsRead, type Parameters, type Read } from "./dialect.ts";
import { quote } from "./names.ts";
import { requireColumn, shownAmong, type Table, type TableColumn } from "./schema/table.ts";
import { compileWhere } from "./where.ts";

/** The rows of a query. */
export function readList(table: Table, query: ListQuery): CellsRead<readonly Row[]> {
  const { selection, rowOf } = table.showing(query.columns);
  const values = parametersOf(table.dialect);
  const text = `SELECT ${selection} ${compileRest(table, query, values)}`;
  return { text, values: values.values, of: (rows) => rows.map(rowOf) };
}

/** The row with that value of a column, for `rowOf`; `id` is one. */
export function selectBy(table: Table, { compared, operand }: TableColumn, selection = table.selection): string {
  return `SELECT ${selection} FROM ${table.name} WHERE ${compared} = ${operand(table.dialect.place(1))}`;
}

/** How many rows match. */
export function readCount(table: Table, where: Where | null): Read<number> {
  const write = (values: Parameters): string => {
    const conditions = where === null ? [] : [...watched(table), compileWhere(table, where, values)];
    const condition = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    return `SELECT count(*) AS counted FROM ${fromOf(table, where, table.name)}${condition}`;
  };
  return reading(table.dialect, write, ([row]) => row!["counted"] as number);
}

/** The part of a query behind its columns: `FROM … WHERE … ORDER BY … LIMIT …`. `also`: a condition that is SQL already. */
export function compileRest(table: Table, query: ListQuery, values: Parameters, also: readonly string[] = []): string {
  let rest = `FROM ${fromOf(table, query.where, table.source)}`;
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
  word = " ORDER BY ";
  for (const each of query.sort) {
    rest += word + compileOrder(requireColumn(table, each.column), each);
    word = ", ";
  }
  return `${rest} LIMIT ${limitOf(table, query, values)}`;
}

function fromOf({ byKey }: Table, where: Where | null, otherwise: string): string {
  return where !== null && namesKeys(where) ? byKey : otherwise;
}

/** Whether only rows of certain keys can match. */
function namesKeys(where: Where): boolean {
  if ("all" in where) return where.all.some(namesKeys);
  return "column" in where && where.column === "id" && (where.operator === "in" || where.operator === "eq");
}

/** What links to one value: of its ids no more are looked at than are shown. */
function compileLinked(
  table: Table,
  { link, record, linked, values: [value] }: NonNullable<ReturnType<typeof linkAlone>>,
  query: ListQuery,
  values: Parameters,
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
  const first = `${rows} ORDER BY ${quote(record)}${descending ? " DESC" : ""} LIMIT ${limitOf(table, query, values)}`;
  return dialect.isAmong(id.sql, first);
}

function compileOrder({ sql, nullable }: TableColumn, { descending, nullsFirst }: Sort): string {
  const nulls = nullable !== true ? "" : nullsFirst === true ? " NULLS FIRST" : " NULLS LAST";
  return `${sql}${descending === true ? " DESC" : ""}${nulls}`;
}

/** Stands first, so that it is looked at for every row that is read. */
function watched({ dialect: { watch } }: Table): string[] {
  return watch === undefined ? [] : [watch];
}

/** The columns to show, in the order of the declaration. */
export function shownIn(table: Table, names: readonly string[] | undefined): TableColumn[] {
  const all = [...table.columns.values(), ...table.computed];
  return names === undefined ? all : shownAmong(table.collection, all, names);
}

/** The columns that a page is made of, by their names, with the key where a value may have to be told by it. */
export function namesOfPage({ existing, computed, id }: Table, shown: readonly TableColumn[]): string {
  const names = shown.map(({ quoted }) => quoted);
  return (
    (existing === null && computed.length === 0) || names.includes(id.quoted) ? names : [...names, id.quoted]
  ).join(", ");
}

function limitOf({ dialect }: Table, { limit }: ListQuery, values: Parameters): string {
  if (!Number.isSafeInteger(limit) || limit < 0) throw new TypeError(`A limit of ${limit} is no number of rows`);
  return dialect.limitInText ? String(limit) : values.place(limit);
}

/** Only rows behind the given ones. Where all columns go the same way, they are compared as one value. */
function compileAfter(table: Table, { sort }: ListQuery, after: readonly Value[], values: Parameters): string {
  if (after.length !== sort.length)
    throw new TypeError(`Sorted by ${sort.length} columns, but there are ${after.length} values to go on from`);
  if (after.length === 0) return "FALSE";
  const steps = sort.map(({ column: name, descending, nullsFirst }, at): Step => {
    const column = requireColumn(table, name);
    const cell = encodeOperand(table.dialect, column, after[at]);
    return {
      name: column.sql,
      direction: descending === true ? "<" : ">",
      nulls: column.nullable !== true ? null : nullsFirst === true ? "first" : "last",
      isNull: cell === null,
      place: () => column.bound(values.place(column.form?.cellOf?.(cell) ?? cell)),
    };
  });
  const { direction } = steps[0]!;
  if (steps.some(({ nulls }) => nulls !== null)) return compileWithNulls(steps);
  // With an order of its own beside it, databases look for no pair in an index.
  if (table.existing !== null || steps.some((step) => step.direction !== direction)) return compileMixed(steps);
  return `(${steps.map(({ name }) => name).join(", ")}) ${direction} (${steps.map(({ place }) => place()).join(", ")})`;
}

/** A column of the order, which way it goes, and a place for the value to go on from. */
interface Step {
  readonly name: string;
  readonly direction: "<" | ">";
  /** Where rows without a value stand; null where every row has one. */
  readonly nulls: "first" | "last" | null;
  /** The row to go on from has no value. */
  readonly isNull: boolean;
  place(): string;
}

/** `a >= ? AND (a > ? OR …)`: the first half is there for the index. */
function compileMixed([step, ...rest]: readonly Step[]): string {
  const { name, direction, place } = step!;
  if (rest.length === 0) return `${name} ${direction} ${place()}`;
  return `(${name} ${direction}= ${place()} AND (${name} ${direction} ${place()} OR ${compileMixed(rest)}))`;
}

/** `(a > ? OR a IS NULL) OR (a = ? AND …)`: rows without a value are behind all others, or before them. */
function compileWithNulls([step, ...rest]: readonly Step[]): string {
  const behind = compileBehind(step!);
  if (rest.length === 0) return behind;
  const same = step!.isNull ? `${step!.name} IS NULL` : `${step!.name} = ${step!.place()}`;
  return `(${behind} OR (${same} AND ${compileWithNulls(rest)}))`;
}

function compileBehind({ name, direction, nulls, isNull, place }: Step): string {
  if (isNull) return nulls === "first" ? `${name} IS NOT NULL` : "FALSE";
  const behind = `${name} ${direction} ${place()}`;
  return nulls === "last" ? `(${behind} OR ${name} IS NULL)` : behind;
}
