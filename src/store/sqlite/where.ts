import { behindPrefix } from "../prefix.ts";
import type { Column, Value, Where } from "../store.ts";
import { encode } from "./codec.ts";
import type { Cell } from "./connection.ts";
import { comparedBy, encodeCompared, quote, requireColumn, type Table } from "./table.ts";

/** A condition as SQL. Values go to `parameters`; names come from the declaration alone. */
export function compileWhere(table: Table, where: Where, parameters: Cell[]): string {
  if ("all" in where) return compileMany(table, where.all, " AND ", "1", parameters);
  if ("any" in where) return compileMany(table, where.any, " OR ", "0", parameters);
  return compileOne(requireColumn(table, where.column), where, parameters);
}

function compileMany(table: Table, many: readonly Where[], word: string, empty: string, parameters: Cell[]): string {
  if (many.length === 0) return empty;
  if (many.length === 1) return compileWhere(table, many[0]!, parameters);
  return `(${many.map((each) => compileWhere(table, each, parameters)).join(word)})`;
}

const comparisons = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

function compileOne(
  column: Column,
  { operator, value }: Extract<Where, { operator: unknown }>,
  parameters: Cell[],
): string {
  switch (operator) {
    case "eq":
      parameters.push(encodeCompared(column, value));
      return `${comparedBy(column)} = ?`;
    case "ne":
      parameters.push(encodeCompared(column, value));
      return `${comparedBy(column)} <> ?`;
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      parameters.push(encode(column, value));
      return `${quote(column.name)} ${comparisons[operator]} ?`;
    case "in":
      // One parameter however long the list is, so that the statement stays the same.
      parameters.push(encodeList(column, value));
      return `${comparedBy(column)} IN (SELECT value FROM json_each(?))`;
    case "null":
      return `${quote(column.name)} ${value === true ? "IS NULL" : "IS NOT NULL"}`;
    case "contains":
      parameters.push(requireText(column, value));
      return `instr(${quote(column.name)}, ?) > 0`;
    case "starts":
      return compileStarts(column, requireText(column, value), parameters);
  }
}

/** A range, which an index can answer. */
function compileStarts(column: Column, prefix: string, parameters: Cell[]): string {
  const name = quote(column.name);
  const end = behindPrefix(prefix);
  parameters.push(prefix);
  if (end === null) return `${name} >= ?`;
  parameters.push(end);
  return `(${name} >= ? AND ${name} < ?)`;
}

function requireText(column: Column, value: Value): string {
  if (column.type === "text" && typeof value === "string") return value;
  throw new TypeError(`Column ${column.name}: contains and starts compare text with text`);
}

function encodeList(column: Column, value: Value): string {
  if (!Array.isArray(value)) throw new TypeError(`Column ${column.name}: in takes an array`);
  const cells = value.map((each) => encodeCompared(column, each));
  return `[${cells.map((cell) => (typeof cell === "bigint" ? cell.toString() : JSON.stringify(cell))).join(",")}]`;
}
