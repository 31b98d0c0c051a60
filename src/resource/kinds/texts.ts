import { aBoolean, isObject, isText, notBelow, optional, wholeFrom, type Only } from "../../core/checking/members.ts";
import {
  defineField,
  Flaw,
  type Field,
  type FieldOptions,
  type OwnChecks,
  type OptionNames,
} from "../declaration/field.ts";
import { declaresColumns } from "./column-kinds.ts";

/** Options of `text()`. Lengths are in characters (Unicode code points). */
export interface TextOptions extends FieldOptions<string> {
  /** The smallest number of characters (Unicode code points). Default: 1. */
  readonly minLength?: number;
  /** The largest number of characters (Unicode code points). Default: 10,000. */
  readonly maxLength?: number;
  /** True to remove white space at both ends first. Default: true. */
  readonly trim?: boolean;
  /**
   * True to allow several lines, with line breaks and tabs. Every line break is stored as one U+000A, so that a text
   * is the same in each format.
   */
  readonly multiline?: boolean;
  /** The pattern that the whole text must match. `detail` explains it to the caller. */
  readonly pattern?: { readonly matches: RegExp; readonly detail: string };
}

// All control characters: C0, DEL and C1.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
const CONTROL_IN_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// More characters that XML cannot contain (XML 1.0 §2.2), so that every text is the same in each format.
export const NOT_IN_XML = /[\ufffe\uffff]/;
export const notInXML = new Flaw("invalid", "The characters U+FFFE and U+FFFF are not allowed.");

/**
 * Declares text without control characters. With `multiline` it may have line breaks and tabs. It has 1 to 10,000
 * characters (code points) unless `minLength` or `maxLength` are set, and no white space at its ends.
 *
 * @example
 * ```ts
 * import { defineResource, text } from "latchkey";
 *
 * const title = text({ maxLength: 200 });
 * const note = text({ minLength: 0, multiline: true, optional: true });
 * export const book = defineResource({ name: "book", fields: { title, note } });
 * ```
 */
export function text<const O extends TextOptions = {}>(
  options?: Only<O, TextOptions>,
): Field<string, OptionNames<O>["names"]>;
export function text(options: TextOptions = {}): Field<string> {
  // The resource reports options that are not an object.
  const { minLength = 1, maxLength = 10_000, trim = true, multiline = false, pattern } = options ?? {};
  const control = multiline ? CONTROL_IN_LINES : CONTROL;
  const parse = (value: unknown): string | Flaw => {
    if (typeof value !== "string") return new Flaw("invalid", "A text is required.");
    // Checked before white space is removed, because some control characters are white space, for example a line break.
    if (control.test(value)) return new Flaw("invalid", "Control characters are not allowed.");
    if (NOT_IN_XML.test(value)) return notInXML;
    const lines = multiline ? value.replaceAll(/\r\n?/g, "\n") : value;
    const trimmed = trim ? lines.trim() : lines;
    if (!trimmed.isWellFormed()) return new Flaw("invalid", "The text is not well-formed Unicode.");
    const length = countCharacters(trimmed);
    if (length < minLength)
      return new Flaw(
        "too_short",
        minLength === 1 ? "The text must not be empty." : `At least ${minLength} characters are required.`,
      );
    if (length > maxLength) return new Flaw("too_long", `At most ${maxLength} characters are allowed.`);
    if (pattern !== undefined && !pattern.matches.test(trimmed)) return new Flaw("invalid", pattern.detail);
    return trimmed;
  };
  const schema = { type: "string", minLength, maxLength };
  const kind = {
    name: "text",
    parse,
    parseText: parse,
    schema,
    column: { type: "text" },
    rule: {
      ...(pattern?.matches instanceof RegExp ? { matches: pattern.matches.source } : {}),
      multiline: multiline === true,
      trim: trim !== false,
    },
    options: { ...textOptions, maxLength: optional(notBelow("minLength", minLength)) },
  } as const;
  return defineField(kind, options);
}

declaresColumns("text", {
  columns: /^(?!.*\[\]$)(?:.*(?:char|text|clob)|(?:citext|inet|cidr|macaddr|name|xml|interval)$)/,
  type: "text",
  id: "text",
  // Accepts any text, because existing values may be empty or end with spaces.
  arguments: ({ maxLength }) => [{ minLength: 0, ...(maxLength === undefined ? {} : { maxLength }), trim: false }],
});

const textOptions: OwnChecks<TextOptions> = {
  minLength: optional(wholeFrom(0)),
  maxLength: optional(wholeFrom(0)),
  trim: optional(aBoolean),
  multiline: optional(aBoolean),
  pattern: optional((value) =>
    isObject(value) && value["matches"] instanceof RegExp && isText(value["detail"])
      ? null
      : "it has to be { matches: /…/, detail: … }",
  ),
};

/** Counts characters as code points. */
function countCharacters(value: string): number {
  let length = 0;
  for (let at = 0; at < value.length; at++) {
    length++;
    if ((value.charCodeAt(at) & 0xfc00) === 0xd800) at++;
  }
  return length;
}

const MAX_URL = 2048;

/**
 * Declares a URL of a page: absolute, with http or https, without a username or a password, at most 2048 characters. It
 * is stored in the form of the URL Standard, so that all programs read it in the same way: `https://EXAMPLE.org`
 * becomes `https://example.org/`.
 */
export function url<const O extends FieldOptions<string> = {}>(
  options?: Only<O, FieldOptions<string>>,
): Field<string, OptionNames<O>["names"]>;
export function url(options: FieldOptions<string> = {}): Field<string> {
  const parse = (value: unknown): string | Flaw => {
    if (typeof value !== "string") return notURL;
    if (value.length > MAX_URL) return tooLong;
    // Refuses characters that the URL Standard ignores or repairs, because they are mistakes.
    if (/[^!-~\u00a1-\u{10ffff}]|\\/u.test(value) || !/^https?:\/\/[^/]/i.test(value)) return notURL;
    const read = URL.parse(value);
    if (read === null || read.username !== "" || read.password !== "") return notURL;
    return read.href.length > MAX_URL ? tooLong : read.href;
  };
  return defineField(
    {
      name: "url",
      parse,
      parseText: parse,
      schema: { type: "string", format: "uri", maxLength: MAX_URL },
      column: { type: "text" },
      spelled: true,
      rule: {},
    },
    options,
  );
}

const notURL = new Flaw("invalid", "An address is required, like https://example.org/page, without a password.");
const tooLong = new Flaw("too_long", `At most ${MAX_URL} characters are allowed.`);
