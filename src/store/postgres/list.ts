import type { Column, ListQuery, ListText, Value } from "../store.ts";
import { quote } from "./names.ts";
import { parameters, prepared, type Parameters, type Statement } from "./parameters.ts";
import { encodeOperand, requireColumn, tableOf, type Table } from "./table.ts";
import { compileWhere } from "./where.ts";

/** The rows of a query, for `rowOf`. */
export function compileList(query: ListQuery): Statement {
  const table = tableOf(query.collection);
  const values = parameters();
  const rest = compileRest(table, query, values);
  return prepared(`SELECT ${table.selection} ${rest}`, values.values);
}

/** The same as one row: the JSON of the records, how many there are up to one beyond the limit, and the sorted values of the first and the last. */
export function compileListJSON(query: ListQuery): Statement {
  const table = tableOf(query.collection);
  const shown = query.columns === undefined ? [...table.columns.values()] : showInOrder(table, query.columns);
  const sorted = query.sort.map(({ column }) => valueOf(requireColumn(table, column), "t"));
  const values = parameters();
  const rest = compileRest(table, { ...query, limit: query.limit + 1 }, values);
  const limit = `${values.place(query.limit)}::integer`;
  const record = shown.map((column) => `${valueOf(column, "t")} AS ${quote(column.name)}`).join(", ");
  return prepared(
    `SELECT array_to_string((array_agg(record))[1:${limit}], ','), count(*), (array_agg(ends))[1], (array_agg(ends))[least(count(*), ${limit})] FROM (` +
      `SELECT row_to_json(r)::text AS record, json_build_array(${sorted.join(", ")})::text AS ends ` +
      `FROM (SELECT * ${rest}) AS t, LATERAL (SELECT ${record}) AS r) AS page`,
    values.values,
  );
}

/** What `compileListJSON` gave. */
export function readListJSON([json, found, first, last]: readonly Value[], limit: number): ListText {
  const more = (found as number) > limit;
  const count = more ? limit : (found as number);
  if (count === 0) return { json: "[]", count, more, first: null, last: null };
  const ends = { first: JSON.parse(first as string) as Value[], last: JSON.parse(last as string) as Value[] };
  return { json: `[${json as string}]`, count, more, ...ends };
}

/** The part of a query behind its columns. */
function compileRest(table: Table, query: ListQuery, values: Parameters): string {
  const conditions: string[] = [];
  if (query.where !== null) conditions.push(compileWhere(table, query.where, values));
  if (query.after !== undefined) conditions.push(compileAfter(table, query, query.after, values));
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const order = query.sort
    .map(({ column, descending }) => quote(requireColumn(table, column).name) + (descending === true ? " DESC" : ""))
    .join(", ");
  return `FROM ${table.name}${where}${order === "" ? "" : ` ORDER BY ${order}`} LIMIT ${values.place(query.limit)}`;
}

/** Only rows behind the given ones. Where all columns go the same way, they are compared as one value. */
function compileAfter(table: Table, { sort }: ListQuery, after: readonly Value[], values: Parameters): string {
  if (after.length !== sort.length)
    throw new TypeError(`Sorted by ${sort.length} columns, but there are ${after.length} values to go on from`);
  if (after.length === 0) return "FALSE";
  const columns = sort.map(({ column }) => requireColumn(table, column));
  const places = columns.map((column, at) => values.place(encodeOperand(column, after[at])));
  const directions = sort.map(({ descending }) => (descending === true ? "<" : ">"));
  const names = columns.map((column) => quote(column.name));
  if (directions.every((direction) => direction === directions[0]))
    return `(${names.join(", ")}) ${directions[0]!} (${places.join(", ")})`;
  return compileMixed(names, directions, places);
}

/** `a >= $1 AND (a > $1 OR …)`: the first half is there for the index. */
function compileMixed(names: readonly string[], directions: readonly string[], places: readonly string[]): string {
  const [name, ...names2] = names;
  const [direction, ...directions2] = directions;
  const [place, ...places2] = places;
  if (names2.length === 0) return `${name!} ${direction!} ${place!}`;
  const rest = compileMixed(names2, directions2, places2);
  return `(${name!} ${direction!}= ${place!} AND (${name!} ${direction!} ${place!} OR ${rest}))`;
}

function showInOrder(table: Table, names: readonly string[]): Column[] {
  for (const name of names) requireColumn(table, name);
  return [...table.columns.values()].filter((column) => names.includes(column.name));
}

/** A column as JSON shows it: decimals are text. */
function valueOf({ name, type }: Column, alias: string): string {
  return `${alias}.${quote(name)}${type === "decimal" ? "::text" : ""}`;
}
