import { defineField, Flaw, type Field, type FieldOptions, type Kind } from "./field.ts";
import { isMailbox } from "./mailbox.ts";

export interface TextOptions extends FieldOptions<string> {
  /** The fewest characters (Unicode code points); 1 where it is left out. */
  readonly min?: number;
  /** The most characters (Unicode code points); 10,000 where it is left out. */
  readonly max?: number;
  /** Cut white space off both ends before anything else; it is where this is left out. */
  readonly trim?: boolean;
  /** What the text must look like, as a whole; `detail` tells the caller. */
  readonly pattern?: { readonly matches: RegExp; readonly detail: string };
}

// C0 without exception, DEL, C1 (contract, section 4).
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// What XML cannot carry besides (XML 1.0 §2.2), so that every text is the same in each format.
const NOT_IN_XML = /[\ufffe\uffff]/;
const notInXML = new Flaw("invalid", "The characters U+FFFE and U+FFFF are not allowed.");

/** Text without control characters. */
export function text<const O extends TextOptions>(options: O = {} as O): Field<string, O> {
  const { min = 1, max = 10_000, trim = true, pattern } = options;
  const parse = (value: unknown): string | Flaw => {
    if (typeof value !== "string") return new Flaw("invalid", "A text is required.");
    // Before white space is cut off, for some of it is control characters.
    if (CONTROL.test(value)) return new Flaw("invalid", "Control characters are not allowed.");
    if (NOT_IN_XML.test(value)) return notInXML;
    const kept = trim ? value.trim() : value;
    if (!kept.isWellFormed()) return new Flaw("invalid", "The text is not well-formed Unicode.");
    const length = lengthOf(kept, max);
    if (length < min)
      return new Flaw(
        "too_short",
        min === 1 ? "The text must not be empty." : `At least ${min} characters are required.`,
      );
    if (length > max) return new Flaw("too_long", `At most ${max} characters are allowed.`);
    if (pattern !== undefined && !pattern.matches.test(kept)) return new Flaw("invalid", pattern.detail);
    return kept;
  };
  const schema = { type: "string", minLength: min, maxLength: max };
  return defineField({ name: "text", parse, parseText: parse, schema, column: { type: "text" } }, options);
}

/** Characters are code points; a text that cannot be longer than `max` is not counted. */
function lengthOf(value: string, max: number): number {
  if (value.length === 0) return 0;
  if (value.length <= max && value.length < 2) return value.length;
  let length = 0;
  for (let at = 0; at < value.length; at++) {
    length++;
    if ((value.charCodeAt(at) & 0xfc00) === 0xd800) at++;
  }
  return length;
}

export interface IntegerOptions extends FieldOptions<number> {
  /** The smallest value; -(2^53-1) where it is left out. */
  readonly min?: number;
  /** The largest value; 2^53-1 where it is left out. */
  readonly max?: number;
}

/** A whole number that JavaScript can hold exactly. */
export function integer<const O extends IntegerOptions>(options: O = {} as O): Field<number, O> {
  return defineField(integerKind("integer", options.min, options.max), options);
}

function integerKind(
  name: "integer" | "reference",
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
): Kind<number> {
  const parse = (value: unknown): number | Flaw => {
    if (typeof value !== "number" || !Number.isSafeInteger(value))
      return new Flaw("invalid", "A whole number is required.");
    if (value < min) return new Flaw("too_small", `The number must be ${min} or more.`);
    if (value > max) return new Flaw("too_large", `The number must be ${max} or less.`);
    return value === 0 ? 0 : value;
  };
  return {
    name,
    parse,
    parseText: (value) => parse(/^-?(0|[1-9]\d{0,15})$/.test(value) ? Number(value) : null),
    schema: { type: "integer", minimum: min, maximum: max },
    column: { type: "integer" },
  };
}

export interface DecimalOptions extends FieldOptions<string> {
  /** Digits after the point, 0 to 6. */
  readonly scale: number;
  /** The smallest value, as text; 0 where it is left out. */
  readonly min?: string;
  /** The largest value, as text; at most fifteen digits in all. */
  readonly max: string;
}

/** An exact amount, as text on the wire (`"12.50"`), with always the same number of digits after the point. */
export function decimal<const O extends DecimalOptions>(options: O): Field<string, O> {
  const { scale, min = "0", max } = options;
  const smallest = scaledOf(min, scale);
  const largest = scaledOf(max, scale);
  if (smallest === null || largest === null || !Number.isSafeInteger(largest) || scale < 0 || scale > 6) {
    throw new TypeError(`decimal: min ${min}, max ${max} and scale ${scale} do not fit fifteen digits.`);
  }
  const parse = (value: unknown): string | Flaw => {
    if (typeof value !== "string") return new Flaw("invalid", 'A decimal number as text is required, like "12.50".');
    const scaled = scaledOf(value, scale);
    if (scaled === null)
      return new Flaw("invalid", `A decimal number with at most ${scale} digits after the point is required.`);
    if (scaled < smallest) return new Flaw("too_small", `The amount must be ${min} or more.`);
    if (scaled > largest) return new Flaw("too_large", `The amount must be ${max} or less.`);
    return formatScaled(scaled, scale);
  };
  const fraction = scale === 0 ? "" : `(\\.\\d{1,${scale}})?`;
  const schema = { type: "string", pattern: `^-?(0|[1-9]\\d*)${fraction}$` };
  return defineField({ name: "decimal", parse, parseText: parse, schema, column: { type: "decimal", scale } }, options);
}

function scaledOf(value: string, scale: number): number | null {
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

/** True or false. */
export function boolean<const O extends FieldOptions<boolean>>(options: O = {} as O): Field<boolean, O> {
  const flaw = new Flaw("invalid", "true or false is required.");
  return defineField(
    {
      name: "boolean",
      parse: (value) => (typeof value === "boolean" ? value : flaw),
      parseText: (value) => (value === "true" ? true : value === "false" ? false : flaw),
      schema: { type: "boolean" },
      column: { type: "boolean" },
    },
    options,
  );
}

/** A point in time (RFC 3339), answered in UTC with milliseconds. */
export function dateTime<const O extends FieldOptions<string>>(options: O = {} as O): Field<string, O> {
  const parse = (value: unknown): string | Flaw =>
    (typeof value === "string" ? instantOf(value) : null) ??
    new Flaw("invalid", "A date-time is required, like 2026-01-31T09:30:00Z (RFC 3339).");
  return defineField(
    {
      name: "date-time",
      parse,
      parseText: parse,
      schema: { type: "string", format: "date-time" },
      column: { type: "date-time" },
    },
    options,
  );
}

function instantOf(value: string): string | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.exec(value);
  if (match === null || Number(match[4]) > 23) return null;
  const lastDay = new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
  if (Number(match[3]) > lastDay) return null;
  const time = Date.parse(value.toUpperCase());
  if (Number.isNaN(time)) return null;
  const iso = new Date(time).toISOString();
  return iso.length === 24 ? iso : null;
}

/** One of a few words. */
export function enumeration<const V extends string, const O extends FieldOptions<NoInfer<V>>>(
  values: readonly V[],
  options: O = {} as O,
): Field<V, O> {
  const known = new Map<unknown, V>(values.map((each) => [each, each]));
  const flaw = new Flaw("invalid", `One of ${values.join(", ")} is required.`);
  const parse = (value: unknown): V | Flaw => known.get(value) ?? flaw;
  return defineField(
    {
      name: "enumeration",
      parse,
      parseText: parse,
      schema: { type: "string", enum: [...values] },
      column: { type: "text" },
    },
    options as FieldOptions<V> & O,
  );
}

/** A mailbox (RFC 5321 §4.1.2, at most 254 octets), kept as written. */
export function email<const O extends FieldOptions<string>>(options: O = {} as O): Field<string, O> {
  const flaw = new Flaw("invalid", "An e-mail address is required, like ann@example.com.");
  const parse = (value: unknown): string | Flaw => (typeof value === "string" && isMailbox(value) ? value : flaw);
  return defineField(
    {
      name: "e-mail",
      parse,
      parseText: parse,
      schema: { type: "string", format: "email", maxLength: 254 },
      column: { type: "text" },
    },
    options,
  );
}

export interface ReferenceOptions extends FieldOptions<number> {
  /** What happens to this record when the other is deleted: it goes too, or it keeps the other (409). `restrict` where it is left out. */
  readonly onDelete?: "cascade" | "restrict";
}

/** The id of a record of another resource, named by that resource's plural. */
export function reference<const O extends ReferenceOptions>(resource: string, options: O = {} as O): Field<number, O> {
  const kind = integerKind("reference", 1);
  return defineField({ ...kind, references: { resource, onDelete: options.onDelete ?? "restrict" } }, options);
}

/** Any JSON value, kept as it is; in XML it stands as JSON text. */
export function json<const O extends FieldOptions<unknown>>(options: O = {} as O): Field<unknown, O> {
  const parse = (value: unknown): unknown => (hasNotInXML(value) ? notInXML : value);
  return defineField<unknown, O>(
    {
      name: "json",
      parse,
      parseText: parse,
      schema: {},
      column: { type: "json" },
    },
    options,
  );
}

function hasNotInXML(value: unknown): boolean {
  if (typeof value === "string") return NOT_IN_XML.test(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasNotInXML);
  // What JSON reads has no members but its own, and asking for a list of them costs three times as much.
  for (const name in value)
    if (NOT_IN_XML.test(name) || hasNotInXML((value as Record<string, unknown>)[name])) return true;
  return false;
}
