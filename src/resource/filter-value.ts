import { textOperators, type Operator } from "../core/operators.ts";
import { Flaw, type Kind } from "./declaration/field.ts";
import { getKind } from "./ids.ts";
import { parseNumber } from "./kinds/numbers.ts";
import type { Resource } from "./resource.ts";

/** The value that a field is compared with. */
export type FilterValue = string | number | boolean | readonly (string | number | boolean)[];

/** The largest number of values of one `in`. */
export const MAX_VALUES = 1000;

/** Reads the value that a field is compared with, from text. */
export function readFilterValue(
  resource: Resource,
  field: string,
  operator: Operator,
  text: string,
): FilterValue | Flaw {
  if (operator === "null")
    return text === "true" ? true : text === "false" ? false : new Flaw("invalid", "true or false is required.");
  if (operator !== "in") return readOne(resource, field, operator, text);
  const parts = text.split(",");
  if (parts.length > MAX_VALUES) return new Flaw("too_many", `At most ${MAX_VALUES} values are allowed.`);
  const values: (string | number | boolean)[] = [];
  for (const part of parts) {
    const value = readOne(resource, field, operator, part);
    if (value instanceof Flaw) return value;
    values.push(value);
  }
  return values;
}

/** Returns the kind of the values that a field is compared with. For a list of ids, it is the kind of one id. */
export function comparedKind(kind: Kind<unknown>): Kind<unknown> {
  return kind.members?.kind ?? kind;
}

/**
 * Reads one value. It must have the type of the column, but may break other rules of the field, such as its maximum.
 */
function readOne(
  resource: Resource,
  field: string,
  operator: Operator,
  text: string,
): string | number | boolean | Flaw {
  const kind = comparedKind(getKind(resource, field));
  if (kind.column.type === "integer") {
    const number = /^-?(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(number) ? number : new Flaw("invalid", "A whole number is required.");
  }
  if (kind.column.type === "double") return readNumber(text);
  if (kind.column.type === "decimal") {
    const [, digits = "", fraction = ""] = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text) ?? [];
    const scale = kind.column.scale ?? 0;
    // A stored value has at most sixteen digits. Two more digits in a filter do no harm.
    return digits !== "" && digits.length + scale <= 18 && fraction.length <= scale
      ? text
      : new Flaw("invalid", "A decimal number is required.");
  }
  if (kind.column.type === "text" && (kind.spelled !== true || textOperators.has(operator))) {
    // Some engines cannot store NUL, so no stored text contains it.
    return text.includes("\0") ? new Flaw("invalid", "Control characters are not allowed.") : text;
  }
  const value = kind.parseText(text) as string | boolean | Flaw;
  const isExact = kind.column.type === "date-time" && resource.table !== null && typeof value === "string";
  return isExact ? withAllDigits(value, text) : value;
}

/**
 * Returns an instant with the digits after its milliseconds. Tables of other programs may store and show more digits.
 */
function withAllDigits(instant: string, text: string): string {
  const more = /\.\d{3}(\d*[1-9])/.exec(text)?.[1] ?? "";
  return instant.replace(/Z$/, `${more}Z`);
}

/** Reads a number in the syntax of JSON. */
function readNumber(text: string): number | Flaw {
  const number = parseNumber(text);
  return number ?? new Flaw("invalid", "A number is required.");
}
