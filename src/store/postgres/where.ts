import { behindPrefix } from "../prefix.ts";
import type { Column, Value, Where } from "../store.ts";
import { quote } from "./names.ts";
import type { Parameters } from "./parameters.ts";
import { comparedBy, encodeCompared, encodeOperand, requireColumn, type Table } from "./table.ts";

/** A condition as SQL. Values go to the parameters; names come from the declaration alone. */
export function compileWhere(table: Table, where: Where, parameters: Parameters): string {
  if ("all" in where) return compileMany(table, where.all, " AND ", "TRUE", parameters);
  if ("any" in where) return compileMany(table, where.any, " OR ", "FALSE", parameters);
  return compileOne(requireColumn(table, where.column), where, parameters);
}

function compileMany(
  table: Table,
  many: readonly Where[],
  word: string,
  empty: string,
  parameters: Parameters,
): string {
  if (many.length === 0) return empty;
  if (many.length === 1) return compileWhere(table, many[0]!, parameters);
  return `(${many.map((each) => compileWhere(table, each, parameters)).join(word)})`;
}

const comparisons = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

function compileOne(
  column: Column,
  { operator, value }: Extract<Where, { operator: unknown }>,
  parameters: Parameters,
): string {
  switch (operator) {
    case "eq":
      return `${comparedBy(column)} = ${parameters.place(encodeCompared(column, value))}`;
    case "ne":
      return `${comparedBy(column)} <> ${parameters.place(encodeCompared(column, value))}`;
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return `${quote(column.name)} ${comparisons[operator]} ${parameters.place(encodeOperand(column, value))}`;
    case "in":
      // One parameter however long the list is, so that the statement stays the same.
      return `${comparedBy(column)} = ANY(${parameters.place(encodeList(column, value))})`;
    case "null":
      return `${quote(column.name)} ${value === true ? "IS NULL" : "IS NOT NULL"}`;
    case "contains":
      return `strpos(${quote(column.name)}, ${parameters.place(requireText(column, value))}) > 0`;
    case "starts":
      return compileStarts(column, requireText(column, value), parameters);
  }
}

/** A range, which an index can answer. */
function compileStarts(column: Column, prefix: string, parameters: Parameters): string {
  const name = quote(column.name);
  const end = behindPrefix(prefix);
  const start = `${name} >= ${parameters.place(prefix)}`;
  return end === null ? start : `(${start} AND ${name} < ${parameters.place(end)})`;
}

function requireText(column: Column, value: Value): string {
  if (column.type === "text" && typeof value === "string") return encodeOperand(column, value) as string;
  throw new TypeError(`Column ${column.name}: contains and starts compare text with text`);
}

function encodeList(column: Column, value: Value): (string | number | boolean | null)[] {
  if (!Array.isArray(value)) throw new TypeError(`Column ${column.name}: in takes an array`);
  return value.map((each) => encodeCompared(column, each));
}
