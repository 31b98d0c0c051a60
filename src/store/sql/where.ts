import { isObject } from "../../core/checking/members.ts";
import { shownName, suggestion } from "../../core/checking/nearest.ts";
import { everyOperator } from "../../core/operators.ts";
import { foldPart, sigmas } from "../fold.ts";
import type { AmongCondition } from "../inner-collections.ts";
import { findTextAfterPrefix } from "../prefix.ts";
import type { Among, Column, Value, Where } from "../store.ts";
import { encodeCompared, encodeOperand } from "./language/codec.ts";
import type { Cell, Dialect, BoundValues } from "./language/dialect.ts";
import { same } from "./language/form.ts";
import { quote } from "./language/names.ts";
import { requireColumn, type Table, type TableColumn } from "./schema/table.ts";
import { compileWord } from "./word-index.ts";

/** Compiles a condition to SQL. Values become parameters. Names come only from the declaration. */
export function compileWhere(table: Table, where: Where, values: BoundValues): string {
  if (!isCondition(where))
    throw new TypeError(
      `Collection ${table.collection.name}: a condition is { column, operator, value }, or all, any or not of others`,
    );
  if ("all" in where) return compileMany(table, where.all, " AND ", "TRUE", values);
  if ("any" in where) return compileMany(table, where.any, " OR ", "FALSE", values);
  if ("word" in where) return compileWord(table, where, values);
  if ("link" in where) return compileLink(table, where, values);
  if ("among" in where) return compileAmong(table, where, values);
  // A comparison with NULL is neither true nor false in SQL, but each row must match either a condition or its `not`.
  if ("not" in where) return `(${compileWhere(table, where.not, values)}) IS NOT TRUE`;
  return compileOne(table.dialect, requireColumn(table, where.column), where, values);
}

/**
 * True if the value is exactly one condition. An object with both `all` and `any` could also be compiled, but one of
 * them would be ignored.
 */
function isCondition(where: unknown): where is Where {
  if (!isObject(where)) return false;
  const { length } = Object.keys(where);
  if ("all" in where || "any" in where) return length === 1 && Array.isArray(where["all"] ?? where["any"]);
  if ("not" in where) return length === 1;
  if ("link" in where) return length === 4;
  if ("among" in where) return length === 2 && typeof where["column"] === "string" && isAmong(where["among"]);
  if ("word" in where) return Object.keys(where).every((name) => ofWord.has(name));
  return length <= 3 && typeof where["column"] === "string";
}

function isAmong(among: unknown): boolean {
  if (!isObject(among) || Object.keys(among).length !== 3) return false;
  // Its own condition is checked when it is compiled.
  return isObject(among["collection"]) && typeof among["select"] === "string";
}

const ofWord: ReadonlySet<string> = new Set(["word", "few", "waiting", "columns"]);

function compileLink(
  { dialect, id }: Table,
  { link, record, linked, values: linkedValues }: Extract<Where, { link: unknown }>,
  values: BoundValues,
): string {
  const declared = link.columns.find(({ name }) => name === linked)!;
  const cells = linkedValues.map((each) => encodeOperand(dialect, declared, each));
  const isAmong = dialect.isOneOf(quote(linked), cells, values);
  return dialect.isAmong(id.sql, `SELECT ${quote(record)} FROM ${quote(link.name)} WHERE ${isAmong}`);
}

function compileAmong(table: Table, { column: name, among }: AmongCondition, values: BoundValues): string {
  const column = requireKeyLike(requireColumn(table, name));
  const inner = table.tableOf(among.collection);
  const { type } = requireColumn(inner, among.select);
  if (column.type !== type)
    throw new TypeError(
      `Column ${name} is of type ${column.type} and cannot be among values of ${among.select}, of type ${type}`,
    );
  // The values in the form of the store, then in the form of the column: two existing tables may differ.
  const { compared, convert } = compareValues(table, column);
  return `${compared} IN (${compileValues(inner, among, values, convert)})`;
}

/** How a column is compared with values in the form of the store. */
export interface ValueComparison {
  /** The SQL of the column. */
  readonly compared: string;
  /** Converts a value to what `compared` is compared with. It never fails, whatever the value is. */
  readonly convert: (value: string) => string;
}

/** A text that PostgreSQL accepts as a UUID. It accepts more spellings, which the store never shows. */
const UUID = "^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$";

/** Returns how a column is compared with values of other rows, which may be of another type in an existing table. */
export function compareValues(table: Table, { name, type, compared, operand, text }: TableColumn): ValueComparison {
  if (type !== "text" || operand === same) return { compared, convert: operand };
  const isUUID = table.collection.existing?.found?.[name]?.storage === "uuid";
  if (!isUUID) return { compared: text, convert: same };
  return { compared, convert: (value) => `CASE WHEN ${value} ~ '${UUID}' THEN ${operand(value)} END` };
}

/** Returns SQL that selects the values of a column in the form of the store, converted by `convert`. */
export function compileValues(inner: Table, { select, where }: Among, values: BoundValues, convert = same): string {
  const { form, sql, quoted } = requireKeyLike(requireColumn(inner, select));
  const value = convert(form === null ? sql : form.convert(quoted));
  return `SELECT ${value} FROM ${inner.name} WHERE ${compileWhere(inner, where, values)}`;
}

function requireKeyLike(column: TableColumn): TableColumn {
  if ((column.type === "integer" || column.type === "text") && column.shadow === null) return column;
  throw new TypeError(`Column ${column.name}: only keys and references are compared with the values of other rows`);
}

function compileMany(table: Table, many: readonly Where[], word: string, empty: string, values: BoundValues): string {
  if (many.length === 0) return empty;
  if (many.length === 1) return compileWhere(table, many[0]!, values);
  let all = "";
  for (const each of many) all += (all === "" ? "(" : word) + compileWhere(table, each, values);
  return `${all})`;
}

const comparisons = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

function compileOne(
  dialect: Dialect,
  column: TableColumn,
  { operator, value }: Extract<Where, { operator: unknown }>,
  values: BoundValues,
): string {
  switch (operator) {
    case "eq":
    case "ne":
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      return compare(dialect, column, operator, value, values);
    case "in":
      return compileOneOf(dialect, column, requireList(column, value), values);
    case "null":
      return `${column.sql} ${requireFlag(column, value) ? "IS NULL" : "IS NOT NULL"}`;
    case "contains":
      return dialect.contains(column.text, values.place(encodeOperand(dialect, column, requireText(column, value))));
    case "starts":
      return compileStarts(
        startsOn(column),
        encodeOperand(dialect, column, requireText(column, value)) as string,
        values,
      );
    case "icontains":
    case "istarts":
      return compileFolded(dialect, column, operator, value, values);
    default:
      throw new TypeError(
        `Column ${column.name}: there is no operator ${shownName(String(operator))}${suggestion(String(operator), everyOperator)}`,
      );
  }
}

/** Compares a column. A column of an existing table is compared in the form that the table uses. */
function compare(
  dialect: Dialect,
  column: TableColumn,
  operator: keyof typeof comparisons,
  value: Value,
  values: BoundValues,
): string {
  const isEquality = operator === "eq" || operator === "ne";
  const { form } = column;
  const cell = isEquality ? encodeCompared(dialect, column, value) : encodeOperand(dialect, column, value);
  if (form?.span !== undefined && cell !== null) return compareSpan(column, operator, form.span(cell), values);
  const place = values.place(form?.convertCell?.(cell) ?? cell);
  return isEquality
    ? `${column.compared} ${comparisons[operator]} ${column.operand(place)}`
    : `${column.sql} ${comparisons[operator]} ${column.bound(place)}`;
}

/** Compares a column in which a value can be spelled in several ways that sort next to each other. */
function compareSpan(
  { sql }: TableColumn,
  operator: keyof typeof comparisons,
  [first, last]: readonly [Cell, Cell],
  values: BoundValues,
): string {
  switch (operator) {
    case "eq":
      return `(${sql} >= ${values.place(first)} AND ${sql} <= ${values.place(last)})`;
    case "ne":
      return `(${sql} < ${values.place(first)} OR ${sql} > ${values.place(last)})`;
    case "lt":
    case "gte":
      return `${sql} ${comparisons[operator]} ${values.place(first)}`;
    case "lte":
    case "gt":
      return `${sql} ${comparisons[operator]} ${values.place(last)}`;
  }
}

function compileOneOf(dialect: Dialect, column: TableColumn, choices: readonly Value[], values: BoundValues): string {
  const { form, compared, operand } = column;
  const cells = choices.map((each) => encodeCompared(dialect, column, each));
  if (form?.span !== undefined) {
    const { span } = form;
    const each = cells.map((cell) => compareSpan(column, "eq", span(cell), values));
    return each.length === 0 ? "FALSE" : `(${each.join(" OR ")})`;
  }
  const held = form?.convertCell === undefined ? cells : cells.map(form.convertCell);
  return operand === same ? dialect.isOneOf(compared, held, values) : dialect.isOneOf(compared, held, values, operand);
}

/** Returns the SQL that a prefix is compared with, by code point. */
function startsOn({ form, sql, text }: TableColumn): string {
  return form === null || form.order.operand === same ? sql : text;
}

/** Compiles a prefix to a range, which can use an index. */
function compileStarts(sql: string, prefix: string, values: BoundValues): string {
  const end = findTextAfterPrefix(prefix);
  const start = `${sql} >= ${values.place(prefix)}`;
  return end === null ? start : `(${start} AND ${sql} < ${values.place(end)})`;
}

function compileFolded(
  dialect: Dialect,
  column: TableColumn,
  operator: "icontains" | "istarts",
  value: Value,
  values: BoundValues,
): string {
  const part = foldPart(column, encodeOperand(dialect, column, requireText(column, value)) as string);
  const shadow = requireShadow(column);
  const { atEnds, elsewhere } = sigmas;
  const sigma = part.indexOf(elsewhere);
  if (sigma === -1)
    return operator === "istarts" ? compileStarts(shadow, part, values) : dialect.contains(shadow, values.place(part));
  const sql = `replace(${shadow}, '${atEnds}', '${elsewhere}')`;
  if (operator === "icontains") return dialect.contains(sql, values.place(part));
  // The two forms of sigma are next to each other in an index, so one range covers both.
  const before = part.slice(0, sigma);
  const either = `${shadow} >= ${values.place(before + atEnds)} AND ${shadow} < ${values.place(findTextAfterPrefix(before + elsewhere))}`;
  return `(${either} AND ${compileStarts(sql, part, values)})`;
}

function requireShadow({ name, shadow }: TableColumn): string {
  if (shadow !== null) return shadow;
  throw new TypeError(`Column ${name}: icontains and istarts need a folded column`);
}

function requireText(column: Column, value: Value): string {
  if (column.type === "text" && typeof value === "string") return value;
  throw new TypeError(`Column ${column.name}: contains and starts compare text with text`);
}

function requireFlag(column: Column, value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new TypeError(`Column ${column.name}: null takes true or false`);
}

function requireList(column: Column, value: Value): readonly Value[] {
  if (Array.isArray(value)) return value as readonly Value[];
  throw new TypeError(`Column ${column.name}: in takes an array`);
}
