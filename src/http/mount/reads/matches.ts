import { readDecimal } from "../../../store/decimal.ts";
import { fold, foldPart } from "../../../store/fold.ts";
import type { Collection, Column, Narrowing, StoredRecord, Value } from "../../../store/store.ts";

/** A condition on the columns of the record itself. A record in memory can be checked against it. */
export type SettledWhere = Extract<Narrowing, { readonly not: unknown }>["not"];

/** Returns true if a record in memory matches a condition. The store decides in the same way. */
export function matches(collection: Collection, record: StoredRecord, where: SettledWhere): boolean {
  if ("all" in where) return where.all.every((each) => matches(collection, record, each));
  if ("any" in where) return where.any.some((each) => matches(collection, record, each));
  if ("not" in where) return !matches(collection, record, where.not);
  const actual = record[where.column] ?? null;
  const { operator, value } = where;
  if (operator === "null") return (actual === null) === value;
  if (actual === null) return false;
  const declared = collection.columns.find(({ name }) => name === where.column);
  // Other programs may write the same instant with another number of digits.
  const column = declared?.type === "date-time" && collection.existing !== undefined ? anInstant : declared;
  const folded = declared ?? {};
  const order = (wanted: Value): number => compare(actual, wanted, column);
  switch (operator) {
    case "eq":
      return isSame(actual, value, column);
    case "ne":
      return !isSame(actual, value, column);
    case "in":
      return Array.isArray(value) && value.some((each: Value) => isSame(actual, each, column));
    case "lt":
      return order(value) < 0;
    case "lte":
      return order(value) <= 0;
    case "gt":
      return order(value) > 0;
    case "gte":
      return order(value) >= 0;
    case "contains":
      return typeof actual === "string" && actual.includes(String(value));
    case "starts":
      return typeof actual === "string" && actual.startsWith(String(value));
    case "icontains":
      return typeof actual === "string" && foldPart(folded, actual).includes(foldPart(folded, String(value)));
    case "istarts":
      return typeof actual === "string" && foldPart(folded, actual).startsWith(foldPart(folded, String(value)));
  }
}

/** Returns the columns of a record that a condition uses. */
export function collectColumns(where: Narrowing): readonly string[] {
  if ("all" in where) return where.all.flatMap(collectColumns);
  if ("any" in where) return where.any.flatMap(collectColumns);
  if ("not" in where) return collectColumns(where.not);
  return [where.column];
}

const anInstant = { name: "", type: "date-time" } as const;

function isSame(one: Value, other: Value, column: Column | undefined): boolean {
  if (column?.unique === "folded" && typeof one === "string" && typeof other === "string")
    return fold(one) === fold(other);
  return column?.type === "decimal" || column === anInstant ? compare(one, other, column) === 0 : one === other;
}

/** Compares two values. Returns NaN for values without an order. Every comparison with NaN is false. */
function compare(one: Value, other: Value, column: Column | undefined): number {
  if (column?.type === "decimal") {
    const [left, right] = [readDecimal(column, one), readDecimal(column, other)];
    return left === null || right === null ? Number.NaN : left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one !== "string" || typeof other !== "string") return Number.NaN;
  if (column === anInstant) return compare(withDigits(one), withDigits(other), undefined);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Returns an instant with nine digits of the second, so that two instants can be compared as texts. */
function withDigits(instant: string): string {
  const [start = "", fraction = ""] = instant.replace(/Z$/, "").split(".");
  return `${start}.${fraction.padEnd(9, "0")}`;
}
