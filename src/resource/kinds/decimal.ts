import { DeclarationError } from "../../core/checking/declaration-error.ts";
import { buildChoiceCheck, matching, type Only, optional, text, wholeFrom } from "../../core/checking/members.ts";
import { isExactNumber } from "../../core/exact-numbers.ts";
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
import { optionMistakes, reportThroughResource } from "./field-mistakes.ts";

/** Options of `decimal()`. The limits are decimal strings. */
export interface DecimalOptions<T extends string | number = string> extends FieldOptions<T> {
  /** Digits after the point, 0 to 6. */
  readonly scale: number;
  /** The smallest value, as text. Default: 0. */
  readonly minimum?: string;
  /**
   * The largest value, as text. With `scale` digits after the point, its digits form a whole number of at most
   * 2^53-1: at `scale: 2`, the text `"9.99"` is 999. So every maximum of fifteen digits is possible.
   */
  readonly maximum: string;
  /**
   * Makes the value a JSON number instead of text. It then has at most fifteen digits, because a double keeps fifteen
   * digits exactly.
   */
  readonly json?: "number";
}

/** The type of the values. */
type DecimalValue<O> = O extends { readonly json: "number" } ? number : string;

/**
 * Declares an exact amount, which is text in JSON (`"12.50"`) and always has the same number of digits after the
 * point. `json: "number"` makes it a number (`12.5`), for callers that use doubles. A value with too many digits is
 * refused and never rounded.
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
  const kind: Kind<unknown> = {
    name: "decimal",
    parse,
    parseText: parse,
    schema,
    column,
    rule: ruleOfDecimal(options),
    draw: (random) => formatScaled(smallest + random.whole(0, Math.min(largest - smallest, 1_000_000)), scale),
    options: decimalOptions,
  };
  return defineField<unknown, FieldOptions<unknown>>(kind, options);
}

/** The schema of an amount that is a text does not contain the limits. */
function ruleOfDecimal({
  minimum = "0",
  maximum,
}: DecimalOptions<string | number>): NonNullable<Kind<unknown>["rule"]> {
  return { least: Number(minimum), most: Number(maximum) };
}

declaresColumns("decimal", {
  columns: /^(?:decimal|numeric)$/,
  type: "decimal",
  values: "decimals of that scale",
  arguments({ storage }) {
    const found = /\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)/.exec(storage);
    if (found === null) return `${storage} has no number of digits; write decimal({ scale: …, maximum: "…" })`;
    // In PostgreSQL, the scale may exceed the precision, `numeric(3,5)`, or be negative, `numeric(5,-2)`.
    const [digits, decimals] = [Number(found[1]), Number(found[2] ?? 0)];
    const scale = Math.max(decimals, 0);
    const all = ("9".repeat(digits) + "0".repeat(scale - decimals)).padStart(scale + 1, "0");
    if (scale > 6 || all.length > 15)
      return `${storage} has more digits than a decimal (15 digits, 6 of them after the point); write decimal({ scale: …, maximum: "…" })`;
    const most = scale === 0 ? all : `${all.slice(0, -scale)}.${all.slice(-scale)}`;
    return [{ scale, minimum: `-${most}`, maximum: most }];
  },
});

/**
 * The largest amount that is a JSON number: fifteen digits, written without the point. A double keeps fifteen digits
 * exactly.
 */
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
    rule: ruleOfDecimal(options),
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
