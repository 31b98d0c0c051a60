import { DeclarationError } from "../../core/checking/declaration-error.ts";
import {
  aWholeNumber,
  matching,
  notBelow,
  buildChoiceCheck,
  type Only,
  optional,
  seen,
  shown,
  text,
  wholeFrom,
} from "../../core/checking/members.ts";
import { doubleOf, isExactNumber, numberIn } from "../../core/exact-numbers.ts";
import {
  defineField,
  Flaw,
  type Field,
  type FieldOptions,
  type Kind,
  type OwnChecks,
  type OptionNames,
} from "../declaration/field.ts";
import { optionMistakes, reportThroughResource } from "./field-mistakes.ts";

/** Options of `integer()`. */
export interface IntegerOptions extends FieldOptions<number> {
  /** The smallest value. Default: -(2^53-1). */
  readonly minimum?: number;
  /** The largest value. Default: 2^53-1. */
  readonly maximum?: number;
}

/**
 * Declares a whole number that JavaScript can represent exactly. From -(2^53-1) to 2^53-1 unless `minimum` or `maximum` are set.
 *
 * @example
 * ```ts
 * import { defineResource, integer } from "latchkey";
 *
 * export const item = defineResource({ name: "item", fields: { quantity: integer({ minimum: 1, maximum: 999 }) } });
 * ```
 */
export function integer<const O extends IntegerOptions = {}>(
  options?: Only<O, IntegerOptions>,
): Field<number, OptionNames<O>["names"]>;
export function integer(options: IntegerOptions = {}): Field<number> {
  // The resource reports options that are not an object.
  const { minimum, maximum } = options ?? {};
  const own: OwnChecks<IntegerOptions> = {
    minimum: optional(aWholeNumber),
    maximum: optional(notBelow("minimum", minimum)),
  };
  return defineField({ ...integerKind(minimum, maximum), options: own }, options);
}

export function integerKind(minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): Kind<number> {
  const parse = (value: unknown): number | Flaw => {
    if (typeof value !== "number" || !Number.isSafeInteger(value))
      return new Flaw("invalid", "A whole number is required.");
    if (value < minimum) return new Flaw("too_small", `The number must be ${minimum} or more.`);
    if (value > maximum) return new Flaw("too_large", `The number must be ${maximum} or less.`);
    return value === 0 ? 0 : value;
  };
  return {
    name: "integer",
    parse,
    parseText: (value) => parse(/^-?(0|[1-9]\d{0,15})$/.test(value) ? Number(value) : null),
    schema: { type: "integer", minimum, maximum },
    column: { type: "integer" },
  };
}

/** Options of `number()`. */
export interface NumberOptions extends FieldOptions<number> {
  /** The smallest value. Default: no limit. */
  readonly minimum?: number;
  /** The largest value. Default: no limit. */
  readonly maximum?: number;
}

/**
 * Declares a number of JavaScript and JSON: a double (IEEE 754), for measurements, not for counts. A number with more than 17 digits is
 * refused and not rounded. `1.50` is returned as `1.5`, and `0.10000000000000001` as `0.1`, because both name the same double. For amounts of money use `decimal()`, which keeps decimal digits exact.
 *
 * @example
 * ```ts
 * import { defineResource } from "latchkey";
 * import { number } from "latchkey/resources";
 *
 * export const place = defineResource({ name: "place", fields: { latitude: number({ minimum: -90, maximum: 90 }) } });
 * ```
 */
export function number<const O extends NumberOptions = {}>(
  options?: Only<O, NumberOptions>,
): Field<number, OptionNames<O>["names"]>;
export function number(options: NumberOptions = {}): Field<number> {
  // The resource reports options that are not an object.
  const { minimum, maximum } = options ?? {};
  const own: OwnChecks<NumberOptions> = {
    minimum: optional(seen(aFiniteNumber)),
    maximum: optional(
      (value) =>
        aFiniteNumber(value) ??
        (minimum !== undefined && Number(value) < minimum
          ? `it is ${String(value)}; it has to be minimum (${minimum}) or more`
          : null),
    ),
  };
  const parse = (sent: unknown): number | Flaw => {
    const value = doubleOf(sent);
    if (value === null && isExactNumber(sent) && Number.isFinite(Number(sent)))
      return new Flaw("invalid", "A number with at most 17 digits is required.");
    if (value === null || !Number.isFinite(value)) return new Flaw("invalid", "A number is required.");
    if (minimum !== undefined && value < minimum)
      return new Flaw("too_small", `The number must be ${minimum} or more.`);
    if (maximum !== undefined && value > maximum)
      return new Flaw("too_large", `The number must be ${maximum} or less.`);
    return value === 0 ? 0 : value;
  };
  const bounds = { ...(minimum === undefined ? {} : { minimum }), ...(maximum === undefined ? {} : { maximum }) };
  return defineField(
    {
      name: "number",
      parse,
      parseText: (text) => parse(isNumber(text) ? numberIn(text) : null),
      schema: { type: "number", format: "double", ...bounds },
      column: { type: "double" },
      options: own,
    },
    options,
  );
}

function aFiniteNumber(value: unknown): string | null {
  return typeof value === "number" && Number.isFinite(value) ? null : `it is ${shown(value)}; it has to be a number`;
}

/**
 * Parses a number in the syntax of JSON (RFC 8259 §6). Returns null if the text is not a number, or if the number is too large for a
 * double.
 */
export function parseNumber(text: string): number | null {
  const value = isNumber(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? (value === 0 ? 0 : value) : null;
}

function isNumber(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text);
}

/** Options of `decimal()`. The limits are decimal strings. */
export interface DecimalOptions<T extends string | number = string> extends FieldOptions<T> {
  /** Digits after the point, 0 to 6. */
  readonly scale: number;
  /** The smallest value, as text. Default: 0. */
  readonly minimum?: string;
  /**
   * The largest value, as text. With `scale` digits after the point, its digits form a whole number of at most 2^53-1: at `scale: 2`, the
   * text `"9.99"` is 999. So every maximum of fifteen digits is possible.
   */
  readonly maximum: string;
  /** Makes the value a JSON number instead of text. It then has at most fifteen digits, because a double keeps fifteen digits exactly. */
  readonly json?: "number";
}

/** The type of the values. */
type DecimalValue<O> = O extends { readonly json: "number" } ? number : string;

/**
 * Declares an exact amount, which is text in JSON (`"12.50"`) and always has the same number of digits after the point. `json: "number"`
 * makes it a number (`12.5`), for callers that use doubles. A value with too many digits is refused and never rounded.
 *
 * @example
 * ```ts
 * import { decimal, defineResource } from "latchkey";
 *
 * const price = decimal({ scale: 2, maximum: "99999.99" });
 * export const item = defineResource({ name: "item", fields: { price } });
 * ```
 */
export function decimal<const O extends DecimalOptions<string | number>>(
  options: Only<O, DecimalOptions<DecimalValue<O>>>,
): Field<DecimalValue<O>, OptionNames<O>["names"]>;
export function decimal(options: DecimalOptions<string | number>): Field {
  return reportThroughResource(() => decimalField(options));
}

function decimalField(options: DecimalOptions<string | number>): Field {
  const mistakes = optionMistakes("decimal", { ...options }, decimalOptions);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  const { scale, minimum = "0", maximum, json } = options;
  const smallest = parseScaled(minimum, scale);
  const largest = parseScaled(maximum, scale);
  const most = json === "number" ? MOST_IN_A_DOUBLE : Number.MAX_SAFE_INTEGER;
  if (smallest === null || largest === null || Math.max(Math.abs(smallest), Math.abs(largest)) > most)
    throw new DeclarationError([
      `decimal: minimum ${minimum}, maximum ${maximum} and scale ${scale} do not fit: a limit has at most ${scale} digits after the point, and is at most ${most} without the point${json === "number" ? ", because every program reads fifteen digits of a JSON number exactly" : ""}; write them like { scale: 2, minimum: "0", maximum: "9999.99" }`,
    ]);
  if (smallest > largest)
    throw new DeclarationError([`decimal: maximum is ${maximum}; it has to be minimum (${minimum}) or more`]);
  const parse = (value: unknown): string | Flaw => {
    if (typeof value !== "string") return new Flaw("invalid", 'A decimal number as text is required, like "12.50".');
    const scaled = parseScaled(value, scale);
    if (scaled === null)
      return new Flaw("invalid", `A decimal number with at most ${scale} digits after the point is required.`);
    if (scaled < smallest) return new Flaw("too_small", `The amount must be ${minimum} or more.`);
    if (scaled > largest) return new Flaw("too_large", `The amount must be ${maximum} or less.`);
    return formatScaled(scaled, scale);
  };
  const fraction = scale === 0 ? "" : `(\\.\\d{1,${scale}})?`;
  const schema = { type: "string", pattern: `^-?(0|[1-9]\\d*)${fraction}$` };
  const column = { type: "decimal", scale } as const;
  if (json === "number") return numberDecimal(parse, options);
  const kind: Kind<unknown> = { name: "decimal", parse, parseText: parse, schema, column, options: decimalOptions };
  return defineField<unknown, FieldOptions<unknown>>(kind, options);
}

/** The largest amount that is a JSON number: fifteen digits, written without the point. A double keeps fifteen digits exactly. */
const MOST_IN_A_DOUBLE = 999_999_999_999_999;

/** Makes the field of an amount that is a JSON number. `parse` reads the amount as text. */
function numberDecimal(parse: (text: unknown) => string | Flaw, options: DecimalOptions<string | number>): Field {
  const { scale, minimum = "0", maximum } = options;
  const tooManyDigits = new Flaw("invalid", `A number with at most ${scale} digits after the point is required.`);
  const read = (text: string | null): number | Flaw => {
    const found = parse(text);
    return found instanceof Flaw ? found : Number(found);
  };
  const kind: Kind<unknown> = {
    name: "decimal",
    parse: (value) => {
      if (isExactNumber(value)) return tooManyDigits;
      if (typeof value !== "number") return new Flaw("invalid", "A number is required, like 12.5.");
      if (value > Number(maximum)) return new Flaw("too_large", `The amount must be ${maximum} or less.`);
      if (value < Number(minimum)) return new Flaw("too_small", `The amount must be ${minimum} or more.`);
      const text = value.toFixed(scale);
      return Number(text) === value ? read(value === 0 ? "0" : text) : tooManyDigits;
    },
    parseText: read,
    schema: { type: "number", minimum: Number(minimum), maximum: Number(maximum) },
    column: { type: "decimal", scale, number: true },
    options: decimalOptions,
  };
  return defineField<unknown, FieldOptions<unknown>>(kind, options);
}

const decimalOptions: OwnChecks<DecimalOptions> = {
  json: optional(buildChoiceCheck("number")),
  scale: wholeFrom(0, 6),
  minimum: optional(text),
  maximum: matching(/./, 'it has to be a text, like "9999.99"'),
};

function parseScaled(value: string, scale: number): number | null {
  const match = /^(-?)(0|[1-9]\d{0,15})(?:\.(\d{1,6}))?$/.exec(value);
  if (match === null) return null;
  const fraction = match[3] ?? "";
  if (fraction.length > scale) return null;
  const scaled = Number(match[2]! + fraction.padEnd(scale, "0"));
  if (!Number.isFinite(scaled)) return null;
  return match[1] === "-" && scaled !== 0 ? -scaled : scaled;
}

function formatScaled(scaled: number, scale: number): string {
  const digits = Math.abs(scaled)
    .toString()
    .padStart(scale + 1, "0");
  const sign = scaled < 0 ? "-" : "";
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
