import { sortOf } from "../../core/checking/members.ts";
import { valueOfJSON } from "../../core/exact-numbers.ts";
import { wordsOf } from "../../core/words/words.ts";
import type { Cells, CopiedTable } from "../copy.ts";
import { formatDecimal, readDecimal } from "../decimal.ts";
import { fold } from "../fold.ts";
import type { Column, Value } from "../store.ts";
import type { Cell, Dialect } from "./dialect.ts";

/** A value as the database is given it. Throws a TypeError where it is not of the column's type: that is a fault of the program, which names the `table` too. */
export function encode({ ownTypes, holdsNUL }: Dialect, column: Column, value: unknown, table?: string): Cell {
  if (value === null) return null;
  switch (column.type) {
    case "integer":
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case "double":
      // Nothing and minus nothing are the same number, and JSON has one of them.
      if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
      break;
    case "text":
    case "date":
    case "date-time":
      // Half of a pair of surrogates becomes another character on its way, and would be told as it was.
      if (typeof value === "string" && value.isWellFormed() && (holdsNUL || !value.includes("\0"))) return value;
      break;
    case "boolean":
      if (typeof value !== "boolean") break;
      if (ownTypes.has("boolean")) return value;
      return value ? 1 : 0;
    case "decimal": {
      // Read here in any case: a database would round what has too many digits.
      const scaled = readDecimal(column, value);
      if (scaled === null) break;
      return ownTypes.has("decimal") ? formatDecimal(String(scaled), column.scale ?? 0) : scaled;
    }
    case "json": {
      const text = JSON.stringify(value);
      if (text !== undefined) return text;
      break;
    }
  }
  throw new TypeError(
    `Column ${column.name}${table === undefined ? "" : ` of ${table}`} is of type ${column.type} and cannot hold ${whatIs(value, column)}`,
  );
}

/** The values of a row that is copied. A TypeError tells which row it is, by its key, which stands in addresses too; of other values it tells nothing. */
export function encodeRow(dialect: Dialect, { columns, key }: CopiedTable, row: Cells): Cell[] {
  return columns.map((column, at) => {
    try {
      return encode(dialect, column, row[at]);
    } catch (error) {
      if (!(error instanceof TypeError) || key.includes(column.name)) throw error;
      const which = key.map((name, first) => `${name} ${JSON.stringify(row[first])}`).join(" and ");
      throw new TypeError(`${error.message}, in the row with ${which}`, { cause: error });
    }
  });
}

/** What was given, for its author, who looks for it in a log: without what stands in it, for it may be a password. */
function whatIs(value: unknown, { type, scale = 0 }: Column): string {
  if (typeof value === "string" && !value.isWellFormed()) return "a text with half of a pair of surrogates";
  if (typeof value === "string" && value.includes("\0")) return "a text with U+0000";
  if (type === "integer" && Number.isFinite(value)) return "a number that is not whole, or too large";
  if (type === "decimal" && (typeof value === "string" || Number.isFinite(value)))
    return `${sortOf(value)} that is no decimal of ${scale} digits behind the point`;
  return sortOf(value);
}

/** A value to compare with what a column holds. */
export function encodeOperand(dialect: Dialect, column: Column, value: unknown): Cell {
  // Where no text has U+0000, a text with it is equal to none; U+FFFF is no character either.
  if (typeof value !== "string") return encode(dialect, column, value);
  const held = value.toWellFormed();
  return encode(dialect, column, dialect.holdsNUL ? held : held.replaceAll("\0", "\uffff"));
}

/** A value for `eq`, `ne` and `in`. */
export function encodeCompared(dialect: Dialect, column: Column, value: unknown): Cell {
  const cell = encodeOperand(dialect, column, value);
  return column.unique === "folded" ? foldCell(cell) : cell;
}

/** What stands beside a value of a folded column. */
export function foldCell(cell: Cell): string | null {
  return typeof cell === "string" ? fold(cell) : null;
}

/** What stands beside a value of a searched column. */
export function wordsCell(cell: Cell): string {
  return wordsAsCell(typeof cell === "string" ? wordsOf(cell) : []);
}

/** Words as they stand there: a JSON array, each behind a quotation mark. */
export function wordsAsCell(words: readonly string[]): string {
  return JSON.stringify(words);
}

/** How what comes back becomes a value again; null where it is the value already. */
export function decoderOf({ ownTypes }: Dialect, column: Column): ((cell: unknown) => Value) | null {
  if (column.number === true) {
    const scale = column.scale ?? 0;
    const textOf = ownTypes.has("decimal") ? String : (cell: unknown) => formatDecimal(String(cell), scale);
    return (cell) => (cell === null ? null : Number(textOf(cell)));
  }
  if (ownTypes.has(column.type)) return null;
  switch (column.type) {
    case "boolean":
      return (cell) => (cell === null ? null : cell === 1);
    case "decimal": {
      const scale = column.scale ?? 0;
      return (cell) => (cell === null ? null : formatDecimal(String(cell), scale));
    }
    case "json":
      return (cell) => (cell === null ? null : (valueOfJSON(cell as string) as Value));
    default:
      return null;
  }
}
