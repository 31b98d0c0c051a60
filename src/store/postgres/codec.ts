import { formatDecimal, parseDecimal } from "../decimal.ts";
import type { Column, Value } from "../store.ts";

/** What travels to PostgreSQL as a parameter. */
export type Cell = string | number | boolean | null | readonly Cell[];

/** A value as PostgreSQL is given it. Throws a TypeError where it is not of the column's type: that is a fault of the program. */
export function encode(column: Column, value: unknown): string | number | boolean | null {
  if (value === null) return null;
  switch (column.type) {
    case "integer":
      if (Number.isSafeInteger(value)) return value as number;
      break;
    case "text":
    case "date-time":
      if (typeof value === "string" && !value.includes("\0")) return value;
      break;
    case "boolean":
      if (typeof value === "boolean") return value;
      break;
    case "decimal": {
      const scale = column.scale ?? 0;
      // PostgreSQL would round what has too many digits.
      const scaled = typeof value === "string" ? parseDecimal(value, scale) : null;
      if (scaled !== null) return formatDecimal(String(scaled), scale);
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

const booleanOID = 16;
const bigintOID = 20;
const integerOID = 23;
const jsonOID = 114;

/** How what PostgreSQL sends as text becomes a value: the types that our columns have, and text for the rest. */
export const decoders = {
  getTypeParser(oid: number): (text: string) => Value {
    switch (oid) {
      case bigintOID:
      case integerOID:
        return Number;
      case booleanOID:
        return (text) => text === "t";
      case jsonOID:
        return (text) => JSON.parse(text) as Value;
      default:
        return (text) => text;
    }
  },
};
