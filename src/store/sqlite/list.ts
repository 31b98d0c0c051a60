import type { Column, ListQuery, Value } from "../store.ts";
import { encode } from "./codec.ts";
import type { Cell } from "./connection.ts";
import { literal, quote, requireColumn, type Table } from "./table.ts";
import { compileWhere } from "./where.ts";

/** The part of a query behind its columns: `FROM … WHERE … ORDER BY … LIMIT n`. Values go to `parameters`. */
export function compileRest(table: Table, query: ListQuery, parameters: Cell[]): string {
  const conditions: string[] = [];
  if (query.where !== null) conditions.push(compileWhere(table, query.where, parameters));
  if (query.after !== undefined) conditions.push(compileAfter(table, query, query.after, parameters));
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const order = query.sort
    .map(({ column, descending }) => quote(requireColumn(table, column).name) + (descending === true ? " DESC" : ""))
    .join(", ");
  if (!Number.isSafeInteger(query.limit)) throw new TypeError(`A limit of ${query.limit} is no whole number`);
  // Written out: with a parameter SQLite plans the statement anew at every run, because the limit may change the plan.
  return `FROM ${table.name}${where}${order === "" ? "" : ` ORDER BY ${order}`} LIMIT ${query.limit}`;
}

/** Only rows behind the given ones. Where all columns go the same way, SQLite compares them as one value. */
function compileAfter(table: Table, { sort }: ListQuery, after: readonly Value[], parameters: Cell[]): string {
  if (after.length !== sort.length)
    throw new TypeError(`Sorted by ${sort.length} columns, but there are ${after.length} values to go on from`);
  if (after.length === 0) return "0";
  const columns = sort.map(({ column }) => requireColumn(table, column));
  const cells = columns.map((column, at) => encode(column, after[at]));
  const directions = sort.map(({ descending }) => (descending === true ? "<" : ">"));
  const names = columns.map((column) => quote(column.name));
  if (directions.every((direction) => direction === directions[0])) {
    parameters.push(...cells);
    return `(${names.join(", ")}) ${directions[0]!} (${cells.map(() => "?").join(", ")})`;
  }
  return compileMixed(names, directions, cells, parameters);
}

/** `a >= ? AND (a > ? OR …)`: the first half is there for the index. */
function compileMixed(
  names: readonly string[],
  directions: readonly string[],
  cells: readonly Cell[],
  parameters: Cell[],
): string {
  const [name, ...names2] = names;
  const [direction, ...directions2] = directions;
  const [cell, ...cells2] = cells;
  parameters.push(cell!);
  if (names2.length === 0) return `${name!} ${direction!} ?`;
  parameters.push(cell!);
  return `(${name!} ${direction!}= ? AND (${name!} ${direction!} ? OR ${compileMixed(names2, directions2, cells2, parameters)}))`;
}

/** What to select so that SQLite writes each record as JSON, and beside it the values of sorted columns that it does not show. */
export function selectJSON(table: Table, query: ListQuery): string {
  const shown = shownIn(table, query.columns);
  const sorted = query.sort.map(({ column }) => requireColumn(table, column));
  const record = `json_object(${shown.map((column) => `${literal(column.name)}, ${jsonOf(column)}`).join(", ")})`;
  if (sorted.every((column) => shown.includes(column))) return record;
  return `${record}, json_object(${sorted.map((column) => `${literal(column.name)}, ${jsonOf(column)}`).join(", ")})`;
}

/** The columns to show, in the order of the declaration. */
export function shownIn(table: Table, names: readonly string[] | undefined): Column[] {
  if (names === undefined) return [...table.columns.values()];
  for (const name of names) requireColumn(table, name);
  return [...table.columns.values()].filter((column) => names.includes(column.name));
}

function jsonOf(column: Column): string {
  const name = quote(column.name);
  switch (column.type) {
    case "boolean":
      return `json(CASE ${name} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)`;
    case "json":
      return `json(${name})`;
    case "decimal":
      return decimalText(name, column.scale ?? 0);
    default:
      return name;
  }
}

function decimalText(name: string, scale: number): string {
  if (scale === 0) return `CAST(${name} AS TEXT)`;
  const unit = `1${"0".repeat(scale)}`;
  return `CASE WHEN ${name} IS NULL THEN NULL ELSE printf('%s%d.%0${scale}d', iif(${name} < 0, '-', ''), abs(${name} / ${unit}), abs(${name} % ${unit})) END`;
}
