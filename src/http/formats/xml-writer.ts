import { isExactNumber } from "../../core/exact-numbers.ts";

/** The names of the elements of a value. */
export interface ElementNames {
  /** The name of each item of a list. Default: `i` (RFC 9457 appendix B). */
  readonly items?: string;
  /** The names of the elements inside a member of a record, by the name of the member. */
  readonly related?: Readonly<Record<string, ElementNames>>;
}

/**
 * Writes a value as an element. A member becomes an element with its name. Null becomes an empty element with
 * `nil="true"`.
 */
export function writeElement(name: string, value: unknown, names: ElementNames = {}): string {
  const shown = asJSON(value);
  if (shown === undefined) return "";
  const { name: opening, start, end } = buildTags(name);
  if (shown === null) return `<${opening} nil="true"/>`;
  if (typeof shown !== "object") return start + escape(String(shown)) + end;
  const { items = "i", related } = names;
  const children = Array.isArray(shown)
    ? shown.map((each) => writeElement(items, each ?? null, related === undefined ? undefined : { related }))
    : Object.entries(shown).map(([member, each]) => writeElement(member, each, related?.[member]));
  return children.length === 0 ? `<${opening}/>` : start + children.join("") + end;
}

/** Returns the tags of an element. */
export function buildTags(name: string): { readonly name: string; readonly start: string; readonly end: string } {
  if (NAME.test(name)) return { name, start: `<${name}>`, end: `</${name}>` };
  // A name that XML does not allow is written in an attribute, so that it cannot break out of the tag.
  const opening = `member name="${escape(name).replace(QUOTED, quote)}"`;
  return { name: opening, start: `<${opening}>`, end: "</member>" };
}

const START =
  "A-Z_a-z\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}";

/** The source of a regular expression for a name without a prefix (Namespaces in XML, NCName). */
export const NAME_SOURCE = `[${START}][-.0-9\\xB7\\u0300-\\u036F\\u203F\\u2040${START}]*`;

const NAME = new RegExp(`^${NAME_SOURCE}$`, "u");
const SPECIAL = /[&<>\r]|[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const EVERY_SPECIAL = new RegExp(SPECIAL.source, "gu");
const QUOTED = /["\t\n]/g;

function escape(text: string): string {
  return SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, replacement) : text;
}

function replacement(character: string): string {
  switch (character) {
    case "&":
      return "&amp;";
    case "<":
      return "&lt;";
    case ">":
      return "&gt;";
    case "\r":
      return "&#13;"; // unescaped, it would be read as a line feed (XML 1.0 §2.11)
    default:
      return "\uFFFD"; // XML 1.0 has no way to write it (§2.2)
  }
}

function quote(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}

/** Returns the value as JSON would show it, so that both formats have the same content. */
function asJSON(value: unknown): unknown {
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value === "number" && !Number.isFinite(value)) return null;
  if (isExactNumber(value)) return value.text;
  if (typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function") {
    return (value as { toJSON(): unknown }).toJSON();
  }
  return value;
}
