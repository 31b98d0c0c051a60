import type { Only } from "../../core/checking/members.ts";
import { defineField, Flaw, type Field, type FieldOptions, type OptionNames } from "../declaration/field.ts";

const MAX_URL = 2048;

/**
 * Declares a URL of a page: absolute, with http or https, without a username or a password, at most 2048 characters. It is stored in the
 * form of the URL Standard, so that all programs read it in the same way: `https://EXAMPLE.org` becomes `https://example.org/`.
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
    },
    options,
  );
}

const notURL = new Flaw("invalid", "An address is required, like https://example.org/page, without a password.");
const tooLong = new Flaw("too_long", `At most ${MAX_URL} characters are allowed.`);
