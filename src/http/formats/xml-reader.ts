import { problem, type Problem } from "../../core/problem/problem.ts";
import type { ReadBody } from "../request/format.ts";
import { LARGE_BYTES, type Pieces } from "../scheduling/slices.ts";
import { setMember } from "./member.ts";
import { ARRAYS_OF_OBJECT, malformedAt, MAX_ARRAYS, MAX_LEVELS, MAX_NAMES, quoted, requireText } from "./text.ts";
import { XMLScope, type Attribute } from "./xml-namespaces.ts";
import { unescapeXML } from "./xml-references.ts";
import { NAME_SOURCE } from "./xml-writer.ts";

/**
 * Reads `<user><name>Ann</name></user>` as `{ name: "Ann" }`. Elements within a member are its members, or the items of
 * a list if all are named `i`. Every leaf is text, and `nil="true"` (also `xsi:nil`) is null. The prefix of a name is
 * ignored, but must be bound. Throws the problem `malformed` with the position in its detail.
 */
export function readXML(bytes: Uint8Array): Pieces<ReadBody> {
  return new XMLReader(requireText(withLineFeeds(bytes))).document();
}

/**
 * Replaces every line end with a line feed (XML 1.0 §2.11). Works on bytes, because a million line ends then take only
 * a millisecond.
 */
function withLineFeeds(bytes: Uint8Array): Uint8Array {
  if (!bytes.includes(CARRIAGE_RETURN)) return bytes;
  const read = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED) continue;
    read[length++] = byte === CARRIAGE_RETURN ? LINE_FEED : byte;
  }
  return read.subarray(0, length);
}

const BLANK = /^[ \t\n]*$/;
const NAME = new RegExp(NAME_SOURCE, "uy");
const DECLARATION =
  /<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.[0-9]+"|'1\.[0-9]+')(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"([A-Za-z][A-Za-z0-9._-]*)"|'([A-Za-z][A-Za-z0-9._-]*)'))?(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>/y;
// XML 1.0 §2.2. Text that was decoded from UTF-8 has no lone surrogates.
const NOT_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
const MAX_TAGS = MAX_ARRAYS / ARRAYS_OF_OBJECT;
/** The maximum number of attributes of an element. */
const MAX_ATTRIBUTES = 64;
const NONE: readonly Attribute[] = [];
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
const EXCLAMATION = 0x21;
const SLASH = 0x2f;
const QUESTION = 0x3f;
// Reads only the part of XML that bodies need: no DTD, only the predefined entities, and few attributes. This is
// simpler than a full parser.
class XMLReader {
  readonly #text: string;
  readonly #scope = new XMLScope();
  readonly #names = new Set<string>();
  #at = 0;
  #tags = 0;
  #paused = 0;

  constructor(text: string) {
    const illegal = text.search(NOT_XML);
    if (illegal !== -1) throw malformedAt(text, illegal, "There is a character that XML does not allow");
    this.#text = text;
  }

  *document(): Pieces<ReadBody> {
    if (this.#text.startsWith("\uFEFF")) this.#at = 1; // XML 1.0 §4.3.3 allows the byte order mark
    if (/^<\?xml[ \t\n]/.test(this.#text.slice(this.#at, this.#at + 6))) this.#declaration();
    this.#aside();
    if (this.#at === this.#text.length) throw problem("malformed", { detail: "The body has no element." });
    const { name, value } = yield* this.#element(1);
    this.#aside();
    if (this.#at < this.#text.length) throw this.#wrong("Expected the end of the body");
    // The root is a record. An empty record has only white space as content.
    return { value: typeof value === "string" && BLANK.test(value) ? {} : value, typed: false, element: name };
  }

  #declaration(): void {
    const found = this.#take(DECLARATION);
    if (found === null) throw this.#wrong("The XML declaration is not well-formed");
    const encoding = found[1] ?? found[2] ?? "utf-8";
    if (encoding.toLowerCase() !== "utf-8")
      throw problem("malformed", { detail: "The XML declaration names an encoding other than UTF-8." });
  }

  *#element(level: number): Pieces<NamedElement> {
    if (level > MAX_LEVELS) throw this.#wrong(`There are more than ${MAX_LEVELS} levels`);
    this.#count();
    const start = this.#at;
    if (!this.#skip("<")) throw this.#wrong("Expected an element");
    const name = this.#qualifiedName();
    const attributes = this.#attributes();
    const nil = attributes.length > 0 && this.#enter(attributes);
    const local = name.slice(name.indexOf(":") + 1);
    if (local !== name && !this.#scope.binds(name.slice(0, -local.length - 1)))
      throw malformedAt(this.#text, start, `The prefix of ${quoted(name)} is not bound`);
    if (this.#names.add(local).size > MAX_NAMES)
      throw malformedAt(this.#text, start, `There are more than ${MAX_NAMES} different names of members`);
    const value = this.#skip("/>") ? "" : yield* this.#inside(name, level);
    this.#scope.leave(attributes);
    if (!nil) return { name: local, value, at: start };
    if (value !== "") throw malformedAt(this.#text, start, 'An element with nil="true" is not empty');
    return { name: local, value: null, at: start };
  }

  /** Counts an element, a comment or an instruction. Each of them takes about the same time. */
  #count(): void {
    if (++this.#tags > MAX_TAGS)
      throw this.#wrong(`There are more than ${MAX_TAGS} elements, comments and processing instructions`);
  }

  /** Reads the content between the two tags. */
  *#inside(name: string, level: number): Pieces<unknown> {
    if (!this.#skip(">")) throw this.#wrong("Expected '>'");
    const value = yield* this.#content(level);
    if (!this.#skip("</") || !this.#skip(name)) throw this.#wrong(`Expected the end of ${quoted(name)}`);
    this.#space();
    if (!this.#skip(">")) throw this.#wrong(`Expected the end of ${quoted(name)}`);
    return value;
  }

  #enter(attributes: readonly Attribute[]): boolean {
    const nil = this.#scope.enter(attributes);
    if (typeof nil === "boolean") return nil;
    throw malformedAt(this.#text, nil.at, nil.wrong);
  }

  #attributes(): readonly Attribute[] {
    if (this.#text[this.#at] === ">") return NONE;
    const attributes: Attribute[] = [];
    for (;;) {
      const isApart = this.#space();
      const next = this.#text[this.#at];
      if (next === ">" || next === "/" || next === undefined) return attributes;
      if (!isApart) throw this.#wrong("Expected '>'");
      if (attributes.length === MAX_ATTRIBUTES) throw this.#wrong(`There are more than ${MAX_ATTRIBUTES} attributes`);
      const at = this.#at;
      const name = this.#qualifiedName();
      attributes.push({ name, value: this.#attributeValue(), at });
    }
  }

  #attributeValue(): string {
    this.#space();
    if (!this.#skip("=")) throw this.#wrong("Expected '='");
    this.#space();
    const quote = this.#text[this.#at];
    const end = quote === '"' || quote === "'" ? this.#text.indexOf(quote, this.#at + 1) : -1;
    if (end === -1) throw this.#wrong("Expected a value in quotes");
    const start = this.#at + 1;
    const value = this.#text.slice(start, end);
    if (value.includes("<")) throw this.#wrong("An attribute contains '<'");
    this.#at = end + 1;
    return this.#unescaped(value, start);
  }

  /** Reads text, the members of an object, or the items of a list. */
  *#content(level: number): Pieces<unknown> {
    const members: NamedElement[] = [];
    let text = "";
    for (;;) {
      if (this.#isPause()) yield;
      const start = this.#at;
      const plain = this.#plain();
      if (plain.includes("]]>")) throw malformedAt(this.#text, start, "There is ']]>' outside of a CDATA section");
      text += yield* this.#unescapedInPieces(plain, start);
      const next = this.#text.charCodeAt(this.#at + 1);
      if (next === EXCLAMATION && this.#skip("<![CDATA[")) text += this.#until("]]>", "A CDATA section");
      else if ((next === EXCLAMATION || next === QUESTION) && this.#skipAside()) continue;
      else if (this.#at === this.#text.length || next === SLASH) break;
      else members.push(yield* this.#element(level + 1));
    }
    if (members.length === 0) return text;
    if (!BLANK.test(text)) throw malformedAt(this.#text, members[0]!.at, "An element has both text and elements");
    // The children of the root are always members, because a record may have a member named `i`.
    if (level > 1 && members.every(({ name }) => name === "i")) return members.map(({ value }) => value);
    const object: Record<string, unknown> = {};
    for (const { name, value, at } of members) {
      if (Object.hasOwn(object, name)) throw malformedAt(this.#text, at, `The member ${quoted(name)} is given twice`);
      setMember(object, name, value);
    }
    return object;
  }

  /** Skips white space, comments and processing instructions around the root. */
  #aside(): void {
    do this.#space();
    while (this.#skipAside());
  }

  /** Skips a comment or a processing instruction. Returns true if there was one. */
  #skipAside(): boolean {
    if (this.#skip("<!--")) {
      this.#count();
      this.#until("--", "A comment");
      if (!this.#skip(">")) throw this.#wrong("A comment contains '--'");
      return true;
    }
    if (this.#text.startsWith("<!", this.#at)) throw this.#wrong("A DTD is not accepted");
    if (!this.#skip("<?")) return false;
    this.#count();
    if (this.#name().toLowerCase() === "xml") throw this.#wrong("The XML declaration is not at the beginning");
    if (!/[ \t\n?]/.test(this.#text[this.#at] ?? "")) throw this.#wrong("A processing instruction is not well-formed");
    this.#until("?>", "A processing instruction");
    return true;
  }

  *#unescapedInPieces(text: string, start: number): Pieces<string> {
    let read = "";
    let from = 0;
    while (text.length - from > LARGE_BYTES) {
      const end = text.indexOf("&", from + LARGE_BYTES);
      if (end === -1) break;
      read += this.#unescaped(text.slice(from, end), start + from);
      from = end;
      yield;
    }
    return read + this.#unescaped(from === 0 ? text : text.slice(from), start + from);
  }

  #isPause(): boolean {
    if (this.#at - this.#paused < LARGE_BYTES) return false;
    this.#paused = this.#at;
    return true;
  }

  #unescaped(text: string, start: number): string {
    return unescapeXML(text, (at, what) => malformedAt(this.#text, start + at, what));
  }

  /** Reads the text before the next tag. */
  #plain(): string {
    const start = this.#at;
    const end = this.#text.indexOf("<", start);
    this.#at = end === -1 ? this.#text.length : end;
    return this.#text.slice(start, this.#at);
  }

  #name(): string {
    const name = this.#take(NAME)?.[0];
    if (name === undefined) throw this.#wrong("Expected a name");
    return name;
  }

  /** Reads a name with an optional prefix (Namespaces in XML §4). */
  #qualifiedName(): string {
    const name = this.#name();
    return this.#skip(":") ? `${name}:${this.#name()}` : name;
  }

  /** Skips white space. Returns true if there was some. */
  #space(): boolean {
    const start = this.#at;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x09) return this.#at > start;
      this.#at++;
    }
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
    return malformedAt(this.#text, this.#at, this.#at < this.#text.length ? what : `${what}, but the body ends`);
  }
}

interface NamedElement {
  readonly name: string;
  readonly value: unknown;
  readonly at: number;
}
