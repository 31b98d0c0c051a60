import { optional, wholeFrom, type Only } from "../../core/checking/members.ts";
import {
  defineField,
  Flaw,
  type Field,
  type FieldOptions,
  type OwnChecks,
  type OptionNames,
} from "../declaration/field.ts";
import { declaresColumns } from "./column-kinds.ts";
import { isMailbox } from "./mailbox.ts";
import { NOT_IN_XML, notInXML } from "./texts.ts";

export { enumeration } from "./enumeration.ts";
export type { EnumerationOptions } from "./enumeration.ts";
export { decimal } from "./decimal.ts";
export type { DecimalOptions } from "./decimal.ts";
export { integer } from "./numbers.ts";
export type { IntegerOptions } from "./numbers.ts";
export { reference } from "./reference.ts";
export type { NamedReferenceOptions, ReferenceOptions } from "./reference.ts";
export { text } from "./texts.ts";
export type { TextOptions } from "./texts.ts";

/**
 * Declares a field that is true or false. In XML and in a query it is the text `true` or `false`.
 *
 * @example
 * ```ts
 * import { boolean, defineResource } from "latchkey";
 *
 * export const task = defineResource({ name: "task", fields: { done: boolean({ default: false }) } });
 * ```
 */
export function boolean<const O extends FieldOptions<boolean> = {}>(
  options?: Only<O, FieldOptions<boolean>>,
): Field<boolean, OptionNames<O>["names"]>;
export function boolean(options: FieldOptions<boolean> = {}): Field<boolean> {
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

declaresColumns("boolean", {
  columns: /^(?:bool|boolean|tinyint\(1\))$/,
  type: "boolean",
  values: "booleans (0 and 1)",
});

/**
 * Declares a point in time (RFC 3339). Responses have it in UTC with milliseconds. It is a text,
 * `2026-01-31T09:30:00.000Z`, not a `Date`. A sent value must have an offset.
 *
 * @example
 * ```ts
 * import { dateTime, defineResource } from "latchkey";
 *
 * export const stay = defineResource({ name: "stay", fields: { from: dateTime(), to: dateTime({ optional: true }) } });
 * ```
 */
export function dateTime<const O extends FieldOptions<string> = {}>(
  options?: Only<O, FieldOptions<string>>,
): Field<string, OptionNames<O>["names"]>;
export function dateTime(options: FieldOptions<string> = {}): Field<string> {
  const parse = (value: unknown): string | Flaw =>
    (typeof value === "string" ? parseInstant(value) : null) ??
    new Flaw("invalid", "A date-time is required, like 2026-01-31T09:30:00Z (RFC 3339).");
  return defineField(
    {
      name: "date-time",
      parse,
      parseText: parse,
      schema: { type: "string", format: "date-time" },
      column: { type: "date-time" },
      rule: {},
    },
    options,
  );
}

declaresColumns("dateTime", {
  columns: /^(?:datetime|timestamp|timestamp with(?:out)? time zone)$/,
  type: "date-time",
  values: "date-times (2026-01-31 09:30:00)",
});

/**
 * Matches an instant in its stored form, except on 29 February. A default of "now" already has this form, and this
 * check takes a tenth of the time of parsing.
 */
const STORED_FORM =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

function parseInstant(value: string): string | null {
  if (STORED_FORM.test(value)) return value;
  const match = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.exec(value);
  if (match === null || Number(match[4]) > 23) return null;
  const lastDay = new Date(Date.UTC(Number(match[1]), Number(match[2]), 0)).getUTCDate();
  if (Number(match[3]) > lastDay) return null;
  const time = Date.parse(value.toUpperCase());
  if (Number.isNaN(time)) return null;
  const iso = new Date(time).toISOString();
  return iso.length === 24 ? iso : null;
}

/**
 * Declares a mailbox (RFC 5321 §4.1.2, at most 254 octets), stored as written without white space at its ends.
 *
 * @example
 * ```ts
 * import { defineResource, email } from "latchkey";
 *
 * export const guest = defineResource({ name: "guest", fields: { email: email({ unique: "case-insensitive" }) } });
 * ```
 */
export function email<const O extends FieldOptions<string> = {}>(
  options?: Only<O, FieldOptions<string>>,
): Field<string, OptionNames<O>["names"]>;
export function email(options: FieldOptions<string> = {}): Field<string> {
  const flaw = new Flaw("invalid", "An e-mail address is required, like ann@example.com.");
  const parse = (value: unknown): string | Flaw => {
    // The keyboard of a phone adds a space. No address has white space at its ends.
    const address = typeof value === "string" ? value.trim() : "";
    return isMailbox(address) ? address : flaw;
  };
  return defineField(
    {
      name: "e-mail",
      parse,
      parseText: parse,
      schema: { type: "string", format: "email", maxLength: 254 },
      column: { type: "text" },
      rule: {},
      input: "email",
    },
    options,
  );
}

/** Options of `json()`. */
export interface JSONOptions extends FieldOptions<unknown> {
  /**
   * The largest number of characters of a value written as JSON. Default: 65,536. Every read or write of the record
   * processes the whole value and delays other requests: a million characters block the thread for ten milliseconds or
   * more each time.
   */
  readonly maxLength?: number;
}

/**
 * Declares a field for any JSON value, stored unchanged. In XML it is JSON text. It has at most 65,536 characters as
 * JSON unless `maxLength` is set. A value from your own code is not checked for types that JSON lacks: a `Map` becomes
 * `{}`.
 *
 * @example
 * ```ts
 * import { defineResource, json } from "latchkey";
 *
 * export const page = defineResource({ name: "page", fields: { meta: json({ optional: true }) } });
 * ```
 */
export function json<const O extends JSONOptions = {}>(
  options?: Only<O, JSONOptions>,
): Field<unknown, OptionNames<O>["names"] | "json">;
export function json(options: JSONOptions = {}): Field {
  const { maxLength } = options ?? {};
  const parse = (value: unknown): unknown => (hasNotInXML(value) ? notInXML : value);
  return defineField(
    {
      name: "json",
      parse,
      parseText: parse,
      schema: {},
      column: { type: "json" },
      ...(typeof maxLength === "number" && wholeFrom(1)(maxLength) === null ? { maxLength } : {}),
      options: jsonOptions,
    },
    options,
  );
}

declaresColumns("json", { columns: /^jsonb?$|\[\]$/, type: "json", values: "JSON" });

const jsonOptions: OwnChecks<JSONOptions> = { maxLength: optional(wholeFrom(1)) };

function hasNotInXML(value: unknown): boolean {
  if (typeof value === "string") return NOT_IN_XML.test(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasNotInXML);
  // Values parsed from JSON have only own members, and a list of their names costs three times as much.
  for (const name in value)
    if (NOT_IN_XML.test(name) || hasNotInXML((value as Record<string, unknown>)[name])) return true;
  return false;
}
