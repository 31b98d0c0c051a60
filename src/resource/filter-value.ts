import { textOperators, type Operator } from "../core/operators.ts";
import { kindOf } from "./ids.ts";
import { Flaw, type Kind } from "./kinds/field.ts";
import { parseNumber } from "./kinds/numbers.ts";
import type { Resource } from "./resource.ts";

/** What a field is compared with. */
export type FilterValue = string | number | boolean | readonly (string | number | boolean)[];

/** Kinds of text with one spelling: what none of their values could be is a mistake. */
const SPELLED = new Set(["enumeration", "url"]);
/** How many values one `in` has at most. */
export const MAX_VALUES = 1000;

/** Reads the value that a field is compared with, as text. */
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

/** The kind of what a field is compared with: of a list of ids, an id. */
export function comparedKind(kind: Kind<unknown>): Kind<unknown> {
  return kind.members?.kind ?? kind;
}

/** A filter asks whether a value occurs; it need not be one that could be stored, only of the right type. */
function readOne(
  resource: Resource,
  field: string,
  operator: Operator,
  text: string,
): string | number | boolean | Flaw {
  const kind = comparedKind(kindOf(resource, field));
  if (kind.column.type === "integer") {
    const number = /^-?(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(number) ? number : new Flaw("invalid", "A whole number is required.");
  }
  if (kind.column.type === "double") return readNumber(text);
  if (kind.column.type === "decimal") {
    const [, digits = "", fraction = ""] = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text) ?? [];
    const scale = kind.column.scale ?? 0;
    // What a store keeps has sixteen digits at most; two more do no harm.
    return digits !== "" && digits.length + scale <= 18 && fraction.length <= scale
      ? text
      : new Flaw("invalid", "A decimal number is required.");
  }
  if (kind.column.type === "text" && (!isSpelled(kind) || textOperators.has(operator))) {
    // NUL cannot be stored by every engine, and no stored text has one.
    return text.includes("\0") ? new Flaw("invalid", "Control characters are not allowed.") : text;
  }
  const value = kind.parseText(text) as string | boolean | Flaw;
  const isExact = kind.column.type === "date-time" && resource.table !== null && typeof value === "string";
  return isExact ? withAllDigits(value, text) : value;
}

/** An instant with what stands behind its milliseconds: tables of others may have more digits, and show them. */
function withAllDigits(instant: string, text: string): string {
  const more = /\.\d{3}(\d*[1-9])/.exec(text)?.[1] ?? "";
  return instant.replace(/Z$/, `${more}Z`);
}

/** A number as JSON writes it. */
function readNumber(text: string): number | Flaw {
  const number = parseNumber(text);
  return number ?? new Flaw("invalid", "A number is required.");
}

/** Whether every value has one spelling, as UUIDs have and references that are some. */
function isSpelled({ name, schema }: Kind<unknown>): boolean {
  return SPELLED.has(name) || schema["format"] === "uuid";
}
