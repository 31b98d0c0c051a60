import { formatDecimal, parseDecimal } from "../decimal.ts";
import type { Column, Value } from "../store.ts";
import type { Cell } from "./connection.ts";

/** A value as SQLite keeps it. Throws a TypeError where it is not of the column's type: that is a fault of the program. */
export function encode(column: Column, value: unknown): Cell {
  if (value === null) return null;
  switch (column.type) {
    case "integer":
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case "text":
    case "date-time":
      if (typeof value === "string") return value;
      break;
    case "boolean":
      if (typeof value === "boolean") return value ? 1 : 0;
      break;
    case "decimal": {
      const scaled = typeof value === "string" ? parseDecimal(value, column.scale ?? 0) : null;
      if (scaled !== null) return scaled;
      break;
    }
    case "json": {
      const text = JSON.stringify(value);
      if (text !== undefined) return text;
      break;
    }
  }
  throw new TypeError(
    `Column ${column.name} is of type ${column.type} and cannot hold ${JSON.stringify(value) ?? typeof value}`,
  );
}

/** How what SQLite keeps becomes a value again; null where it is the value already. */
export function decoderOf(column: Column): ((cell: Cell) => Value) | null {
  switch (column.type) {
    case "boolean":
      return (cell) => (cell === null ? null : cell === 1);
    case "decimal": {
      const scale = column.scale ?? 0;
      return (cell) => (cell === null ? null : formatDecimal(String(cell), scale));
    }
    case "json":
      return (cell) => (cell === null ? null : (JSON.parse(cell as string) as Value));
    default:
      return null;
  }
}
