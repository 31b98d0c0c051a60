import { aWholeNumber, notBelow, type Only, optional, seen, shown } from "../../core/checking/members.ts";
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
import { declaresColumns } from "./column-kinds.ts";

/** Options of `integer()`. */
export interface IntegerOptions extends FieldOptions<number> {
  /** The smallest value. Default: -(2^53-1). */
  readonly minimum?: number;
  /** The largest value. Default: 2^53-1. */
  readonly maximum?: number;
}

/**
 * Declares a whole number that JavaScript can represent exactly. From -(2^53-1) to 2^53-1 unless `minimum` or `maximum`
 * are set.
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
  return defineField({ ...integerKind(minimum, maximum), rule: {}, options: own }, options);
}

declaresColumns("integer", {
  columns:
    /^(?:bigint|bigserial|int8|integer|int|mediumint|unsigned big int|int4|smallint|int2|tinyint|smallint unsigned|integer unsigned|bigint unsigned|bigint_unsigned)$/,
  type: "integer",
  values: "whole numbers",
  id: "integer",
  arguments({ type }) {
    if (type === "smallint" || type === "int2") return [{ minimum: -32_768, maximum: 32_767 }];
    return [type === "int4" ? { minimum: -2_147_483_648, maximum: 2_147_483_647 } : {}];
  },
});

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
 * Declares a number of JavaScript and JSON: a double (IEEE 754), for measurements, not for counts. A number with more
 * than 17 digits is refused and not rounded. `1.50` is returned as `1.5`, and `0.10000000000000001` as `0.1`, because
 * both name the same double. For amounts of money use `decimal()`, which keeps decimal digits exact.
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
      rule: {},
      options: own,
    },
    options,
  );
}

declaresColumns("number", { columns: /(?:real|floa|doub)(?!.*\[\]$)/, type: "double", values: "numbers" });

function aFiniteNumber(value: unknown): string | null {
  return typeof value === "number" && Number.isFinite(value) ? null : `it is ${shown(value)}; it has to be a number`;
}

/**
 * Parses a number in the syntax of JSON (RFC 8259 §6). Returns null if the text is not a number, or if the number is
 * too large for a double.
 */
export function parseNumber(text: string): number | null {
  const value = isNumber(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? (value === 0 ? 0 : value) : null;
}

function isNumber(text: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text);
}
