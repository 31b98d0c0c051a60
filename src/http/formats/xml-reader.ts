import { problem, type Problem } from "../../problem/problem.ts";
import type { ReadBody } from "./format.ts";
import { setMember } from "./member.ts";
import { malformedAt, MAX_LEVELS, quoted, requireText } from "./text.ts";
import { NAME_SOURCE } from "./xml-writer.ts";

/**
 * Reads `<user><name>Ann</name></user>` as `{ name: "Ann" }`. Elements within a member are members of it, or those of a list where
 * each is named `i`. Every leaf is text, `nil="true"` is null. Throws the problem `malformed`, whose detail names the place.
 */
export function readXML(bytes: Uint8Array): ReadBody {
  return new Reader(requireText(bytes)).document();
}

const SPACE = /[ \t\n]*/y;
const BLANK = /^[ \t\n]*$/;
const NAME = new RegExp(NAME_SOURCE, "uy");
const DECLARATION =
  /<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"([A-Za-z][A-Za-z0-9._-]*)"|'([A-Za-z][A-Za-z0-9._-]*)'))?(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>/y;
const NOT_XML = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const REFERENCE = /&(?:#([0-9]{1,8});|#x([0-9A-Fa-f]{1,8});|([a-z]+);)?/g;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

// Libraries for XML let pass what is not well-formed (two roots, `&#0;`, `]]>`) and rename members such as `toString`. What a body
// needs is so small a part of XML (no DTD, no entities, two attributes) that reading exactly that is the shorter way.
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    const illegal = text.search(NOT_XML);
    if (illegal !== -1) throw malformedAt(text, illegal, "A character stands here that XML does not allow");
    this.#text = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text; // XML 1.0 §2.11
  }

  document(): ReadBody {
    if (this.#text.startsWith("\uFEFF")) this.#at = 1; // XML 1.0 §4.3.3 allows the mark
    if (/^<\?xml[ \t\n]/.test(this.#text.slice(this.#at, this.#at + 6))) this.#declaration();
    this.#aside();
    if (this.#at === this.#text.length) throw problem("malformed", { detail: "The body has no element." });
    const { name, value } = this.#element(1);
    this.#aside();
    if (this.#at < this.#text.length) throw this.#wrong("Expected the end of the body");
    // The root is a record, and one without members is written as white space.
    return { value: typeof value === "string" && BLANK.test(value) ? {} : value, typed: false, element: name };
  }

  #declaration(): void {
    const found = this.#take(DECLARATION);
    if (found === null) throw this.#wrong("The XML declaration is not well-formed");
    const encoding = found[1] ?? found[2] ?? "utf-8";
    if (encoding.toLowerCase() !== "utf-8")
      throw problem("malformed", { detail: "The XML declaration names an encoding other than UTF-8." });
  }

  #element(level: number): { name: string; value: unknown } {
    if (level > MAX_LEVELS) throw this.#wrong(`There are more than ${MAX_LEVELS} levels`);
    const start = this.#at;
    if (!this.#skip("<")) throw this.#wrong("Expected an element");
    const name = this.#name();
    const nil = this.#attributes();
    if (this.#skip("/>")) return { name, value: nil ? null : "" };
    if (!this.#skip(">")) throw this.#wrong("Expected '>'");
    const value = this.#content(level);
    if (!this.#skip(`</${name}`)) throw this.#wrong(`Expected the end of ${quoted(name)}`);
    this.#take(SPACE);
    if (!this.#skip(">")) throw this.#wrong(`Expected the end of ${quoted(name)}`);
    if (!nil) return { name, value };
    if (value !== "") throw malformedAt(this.#text, start, 'An element with nil="true" is not empty');
    return { name, value: null };
  }

  /** Whether `nil` is true. */
  #attributes(): boolean {
    const seen = new Set<string>();
    let nil = false;
    for (;;) {
      const space = this.#take(SPACE)![0];
      const next = this.#text[this.#at];
      if (next === ">" || next === "/" || next === undefined) return nil;
      if (space === "") throw this.#wrong("Expected '>'");
      const start = this.#at;
      const name = this.#name();
      if (seen.has(name)) throw malformedAt(this.#text, start, `The attribute ${quoted(name)} is given twice`);
      seen.add(name);
      const value = this.#attributeValue();
      if (name === "nil" && (value === "true" || value === "false")) nil = value === "true";
      else if (name !== "xmlns") throw malformedAt(this.#text, start, 'No attribute is read but nil="true" and xmlns');
    }
  }

  #attributeValue(): string {
    this.#take(SPACE);
    if (!this.#skip("=")) throw this.#wrong("Expected '='");
    this.#take(SPACE);
    const quote = this.#text[this.#at];
    const end = quote === '"' || quote === "'" ? this.#text.indexOf(quote, this.#at + 1) : -1;
    if (end === -1) throw this.#wrong("Expected a value in quotes");
    const start = this.#at + 1;
    const value = this.#text.slice(start, end);
    if (value.includes("<")) throw this.#wrong("'<' stands in an attribute");
    this.#at = end + 1;
    return this.#unescape(value, start);
  }

  /** Text, or the members of an object, or those of a list. */
  #content(level: number): unknown {
    const members: { name: string; value: unknown; at: number }[] = [];
    let text = "";
    for (;;) {
      const start = this.#at;
      const plain = this.#plain();
      if (plain.includes("]]>")) throw malformedAt(this.#text, start, "']]>' stands outside of a CDATA section");
      text += this.#unescape(plain, start);
      if (this.#skip("<![CDATA[")) text += this.#until("]]>", "A CDATA section");
      else if (this.#skipAside()) continue;
      else if (this.#at === this.#text.length || this.#text.startsWith("</", this.#at)) break;
      else members.push({ at: this.#at, ...this.#element(level + 1) });
    }
    if (members.length === 0) return text;
    if (!BLANK.test(text)) throw malformedAt(this.#text, members[0]!.at, "An element has both text and elements");
    // The root's are always members: a record may have one that is named `i`.
    if (level > 1 && members.every(({ name }) => name === "i")) return members.map(({ value }) => value);
    const object: Record<string, unknown> = {};
    for (const { name, value, at } of members) {
      if (Object.hasOwn(object, name)) throw malformedAt(this.#text, at, `The member ${quoted(name)} is given twice`);
      setMember(object, name, value);
    }
    return object;
  }

  /** White space, comments and processing instructions around the root. */
  #aside(): void {
    do this.#take(SPACE);
    while (this.#skipAside());
  }

  /** Goes past a comment or a processing instruction, if there is one. */
  #skipAside(): boolean {
    if (this.#skip("<!--")) {
      this.#until("--", "A comment");
      if (!this.#skip(">")) throw this.#wrong("'--' stands in a comment");
      return true;
    }
    if (this.#text.startsWith("<!", this.#at)) throw this.#wrong("A DTD is not accepted");
    if (!this.#skip("<?")) return false;
    if (this.#name().toLowerCase() === "xml") throw this.#wrong("The XML declaration is not at the beginning");
    if (!/[ \t\n?]/.test(this.#text[this.#at] ?? "")) throw this.#wrong("A processing instruction is not well-formed");
    this.#until("?>", "A processing instruction");
    return true;
  }

  #unescape(text: string, start: number): string {
    if (!text.includes("&")) return text;
    return text.replace(
      REFERENCE,
      (whole: string, decimal: string | undefined, hex: string | undefined, entity: string | undefined, at: number) => {
        const character =
          entity !== undefined
            ? ENTITIES.get(entity)
            : characterOf(decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal));
        if (character === undefined)
          throw malformedAt(
            this.#text,
            start + at,
            `${quoted(whole)} is no reference to a character; a plain '&' is written '&amp;'`,
          );
        return character;
      },
    );
  }

  /** What stands before the next tag. */
  #plain(): string {
    const start = this.#at;
    const end = this.#text.indexOf("<", start);
    this.#at = end === -1 ? this.#text.length : end;
    return this.#text.slice(start, this.#at);
  }

  #name(): string {
    const name = this.#take(NAME)?.[0];
    if (name === undefined) throw this.#wrong("Expected a name without a prefix");
    return name;
  }

  #until(end: string, what: string): string {
    const start = this.#at;
    const found = this.#text.indexOf(end, start);
    if (found === -1) throw malformedAt(this.#text, start, `${what} has no end`);
    this.#at = found + end.length;
    return this.#text.slice(start, found);
  }

  #skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #wrong(what: string): Problem {
    return malformedAt(this.#text, this.#at, this.#at < this.#text.length ? what : `${what}, and the body ends`);
  }
}

function characterOf(code: number): string | undefined {
  if (!(code <= 0x10ffff)) return undefined;
  const character = String.fromCodePoint(code);
  return NOT_XML.test(character) ? undefined : character;
}
