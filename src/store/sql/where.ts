import { shownName, suggestion } from "../../checking/nearest.ts";
import { behindPrefix } from "../prefix.ts";
import { everyOperator } from "../rows.ts";
import type { Column, Value, Where } from "../store.ts";
import { encodeCompared, encodeOperand, foldCell } from "./codec.ts";
import type { Dialect, Parameters } from "./dialect.ts";
import { requireColumn, type Table, type TableColumn } from "./schema/table.ts";
import { compileWord } from "./words.ts";

/** A condition as SQL. Values go to the parameters; names come from the declaration alone. */
export function compileWhere(table: Table, where: Where, values: Parameters): string {
  if ("all" in where) return compileMany(table, where.all, " AND ", "TRUE", values);
  if ("any" in where) return compileMany(table, where.any, " OR ", "FALSE", values);
  if ("word" in where) return compileWord(table, where.word, where.few === true, values);
  // A comparison with NULL is neither true nor false in SQL, and a row has to be one or the other.
  if ("not" in where) return `(${compileWhere(table, where.not, values)}) IS NOT TRUE`;
  return compileOne(table.dialect, requireColumn(table, where.column), where, values);
}

function compileMany(table: Table, many: readonly Where[], word: string, empty: string, values: Parameters): string {
  if (many.length === 0) return empty;
  if (many.length === 1) return compileWhere(table, many[0]!, values);
  return `(${many.map((each) => compileWhere(table, each, values)).join(word)})`;
}

const comparisons = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

function compileOne(
  dialect: Dialect,
  column: TableColumn,
  { operator, value }: Extract<Where, { operator: unknown }>,
  values: Parameters,
): string {
  switch (operator) {
    case "eq":
      return `${column.compared} = ${values.place(encodeCompared(dialect, column, value))}`;
    case "ne":
      return `${column.compared} <> ${values.place(encodeCompared(dialect, column, value))}`;
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return `${column.sql} ${comparisons[operator]} ${values.place(encodeOperand(dialect, column, value))}`;
    case "in":
      return dialect.isOneOf(
        column.compared,
        requireList(column, value).map((each) => encodeCompared(dialect, column, each)),
        values,
      );
    case "null":
      return `${column.sql} ${value === true ? "IS NULL" : "IS NOT NULL"}`;
    case "contains":
      return dialect.contains(column.sql, values.place(encodeOperand(dialect, column, requireText(column, value))));
    case "starts":
      return compileStarts(column.sql, encodeOperand(dialect, column, requireText(column, value)) as string, values);
    case "icontains":
      return dialect.contains(requireShadow(column), values.place(foldedOperand(dialect, column, value)));
    case "istarts":
      return compileStarts(requireShadow(column), foldedOperand(dialect, column, value), values);
    default:
      throw new TypeError(
        `Column ${column.name}: there is no operator ${shownName(String(operator))}${suggestion(String(operator), everyOperator)}`,
      );
  }
}

/** A range, which an index can answer. */
function compileStarts(sql: string, prefix: string, values: Parameters): string {
  const end = behindPrefix(prefix);
  const start = `${sql} >= ${values.place(prefix)}`;
  return end === null ? start : `(${start} AND ${sql} < ${values.place(end)})`;
}

function foldedOperand(dialect: Dialect, column: TableColumn, value: Value): string {
  return foldCell(encodeOperand(dialect, column, requireText(column, value)))!;
}

function requireShadow({ name, shadow }: TableColumn): string {
  if (shadow !== null) return shadow;
  throw new TypeError(`Column ${name}: icontains and istarts need a folded column`);
}

function requireText(column: Column, value: Value): string {
  if (column.type === "text" && typeof value === "string") return value;
  throw new TypeError(`Column ${column.name}: contains and starts compare text with text`);
}

function requireList(column: Column, value: Value): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  throw new TypeError(`Column ${column.name}: in takes an array`);
}
