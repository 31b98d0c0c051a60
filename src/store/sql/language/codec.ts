import { describeType } from "../../../core/checking/members.ts";
import { valueOfJSON } from "../../../core/exact-numbers.ts";
import { splitWords } from "../../../core/words/words.ts";
import type { CopiedRow, CopiedTable } from "../../copy.ts";
import { formatDecimal, readDecimal } from "../../decimal.ts";
import { foldFor } from "../../fold.ts";
import type { Column, Value } from "../../store.ts";
import type { Cell, Dialect } from "./dialect.ts";

/**
 * Returns a value in the form for the database. Throws a TypeError if the value is not of the column's type. This is a
 * bug of the program, and the message also names the `table`.
 */
export function encode({ ownTypes, holdsNUL }: Dialect, column: Column, value: unknown, table?: string): Cell {
  if (value === null) return null;
  switch (column.type) {
    case "integer":
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case "double":
      // -0 becomes 0, because `JSON.stringify` writes both as 0.
      if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
      break;
    case "text":
    case "date":
    case "date-time":
      // The database would replace a lone surrogate by another character, and the response would not show this.
      if (typeof value === "string" && value.isWellFormed() && (holdsNUL || !value.includes("\0"))) return value;
      break;
    case "boolean":
      if (typeof value !== "boolean") break;
      if (ownTypes.has("boolean")) return value;
      return value ? 1 : 0;
    case "decimal": {
      // Always parsed here, because a database would round a value with too many digits.
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

/**
 * Returns the values of a copied row. A TypeError names the row by its key, which URLs show too, and contains no other
 * value.
 */
export function encodeRow(dialect: Dialect, { columns, key }: CopiedTable, row: CopiedRow): Cell[] {
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

/** Describes a value for the developer who reads the log. Does not show its content, which may be a password. */
function whatIs(value: unknown, { type, scale = 0 }: Column): string {
  if (typeof value === "string" && !value.isWellFormed()) return "a text with half of a pair of surrogates";
  if (typeof value === "string" && value.includes("\0")) return "a text with U+0000";
  if (type === "integer" && Number.isFinite(value)) return "a number that is not whole, or too large";
  if (type === "decimal" && (typeof value === "string" || Number.isFinite(value)))
    return `${describeType(value)} that is not a decimal with ${scale} digits after the point`;
  return describeType(value);
}

/** Returns a value to compare with the values of a column. */
export function encodeOperand(dialect: Dialect, column: Column, value: unknown): Cell {
  // If the database cannot store U+0000, a value with U+0000 must match no row. U+FFFF replaces it, because U+FFFF is
  // not a character and is in no text either.
  if (typeof value !== "string") return encode(dialect, column, value);
  const held = value.toWellFormed();
  return encode(dialect, column, dialect.holdsNUL ? held : held.replaceAll("\0", "\uffff"));
}

/** Returns a value to compare by `eq`, `ne` and `in`. Folds it if the column is unique as `folded`. */
export function encodeCompared(dialect: Dialect, column: Column, value: unknown): Cell {
  const cell = encodeOperand(dialect, column, value);
  return column.unique === "folded" ? foldCell(column, cell) : cell;
}

/** Returns the folded value of a text in this column. Returns null for null. */
export function foldCell(column: Pick<Column, "unique">, cell: Cell): string | null {
  return typeof cell === "string" ? foldFor(column, cell) : null;
}

/** Returns the words of a text in their stored form. Returns an empty list for null. */
export function wordsCell(cell: Cell): string {
  return wordsAsCell(typeof cell === "string" ? splitWords(cell) : []);
}

/** Returns words in their stored form: a JSON array. */
export function wordsAsCell(words: readonly string[]): string {
  return JSON.stringify(words);
}

/**
 * Returns the function that turns a cell of the database into a value. Returns null if the cell is the value already.
 */
export function findDecoder({ ownTypes }: Dialect, column: Column): ((cell: unknown) => Value) | null {
  if (column.number === true) {
    const scale = column.scale ?? 0;
    const formatNumber = ownTypes.has("decimal") ? String : (cell: unknown) => formatDecimal(String(cell), scale);
    return (cell) => (cell === null ? null : Number(formatNumber(cell)));
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
