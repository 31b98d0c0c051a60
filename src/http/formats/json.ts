import { after, type Eventually } from "../../core/eventually.ts";
import { doubleOf, isExactNumber, numberIn, type ExactNumber } from "../../core/exact-numbers.ts";
import type { Problem } from "../../core/problem/problem.ts";
import type { Format, NumberReading } from "../request/format.ts";
import { inPieces, LARGE_BYTES, runAtOnce, writeEach, type Pieces } from "../scheduling/slices.ts";
import { setMember } from "./member.ts";
import { ARRAYS_OF_OBJECT, malformedAt, MAX_ARRAYS, MAX_LEVELS, MAX_NAMES, quoted, requireText } from "./text.ts";

/** JSON: strict when reading (RFC 8259 and I-JSON, RFC 7493), plain when writing. */
export const json = {
  mediaType: "application/json",
  problemMediaType: "application/problem+json",
  tagSuffix: "",
  write: ({ value }) => (Array.isArray(value) ? writeArray(value) : JSON.stringify(value)),
  writeJSON: (text) => text,
  writeProblem: (document) => JSON.stringify(document),
  read: (bytes: Uint8Array, numbers?: NumberReading) =>
    after(inPieces(new JSONReader(requireText(bytes), numbers).document()), (value) => ({ value, typed: true })),
} satisfies Format;

/** Writes an array in pieces, because the response to the PATCH of an array may have 8 MiB. */
function writeArray(list: readonly unknown[]): Eventually<string | Uint8Array> {
  return inPieces(writeEach(list, (each) => JSON.stringify(each) ?? "null", ["[", ",", "]"]));
}

/**
 * Reads JSON that has only one meaning: no duplicate members, no number that would be rounded, no lone surrogates, at
 * most 32 levels. With `exactNumbers`, a fraction with more digits than a double keeps is an `ExactNumber`. Throws the
 * problem `malformed`, whose detail names the place.
 */
export function readJSON(bytes: Uint8Array, numbers?: NumberReading): unknown {
  return runAtOnce(new JSONReader(requireText(bytes), numbers).document());
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OBJECT = 0x7b; // {
const ARRAY = 0x5b; // [

function isOpening(code: number): boolean {
  return code === OBJECT || code === ARRAY;
}

// `JSON.parse` takes the last of two equal members, rounds numbers and quotes the body in its messages. A check before
// or after `JSON.parse` would read the text twice. So this class checks and parses in one pass.
class JSONReader {
  readonly #text: string;
  readonly #exactNumbers: boolean;
  readonly #names = new Set<string>();
  #at = 0;
  #arrays = 0;
  #paused = 0;

  constructor(text: string, { exactNumbers }: NumberReading = { exactNumbers: false }) {
    this.#text = text;
    this.#exactNumbers = exactNumbers;
  }

  *document(): Pieces<unknown> {
    const value = isOpening(this.#next()) ? yield* this.#container(1) : this.#scalar();
    this.#next();
    if (this.#at < this.#text.length) throw this.#wrong("Expected the end of the body");
    return value;
  }

  #container(level: number): Pieces<unknown> {
    return this.#text.charCodeAt(this.#at) === OBJECT ? this.#object(level) : this.#array(level);
  }

  #scalar(): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        return this.#string();
      case 0x74: // t
        return this.#word("true", true);
      case 0x66: // f
        return this.#word("false", false);
      case 0x6e: // n
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  *#object(level: number): Pieces<Record<string, unknown>> {
    this.#enter(level, ARRAYS_OF_OBJECT);
    const object: Record<string, unknown> = {};
    if (this.#next() === 0x7d) return this.#leave(object);
    for (let isFirst = true; ; isFirst = false) {
      if (this.#next() !== QUOTE)
        throw this.#wrong(`Expected the name of a member${isFirst ? "" : " after the comma"}`);
      const start = this.#at;
      const name = this.#string();
      if (Object.hasOwn(object, name))
        throw malformedAt(this.#text, start, `The member ${quoted(name)} is given twice`);
      if (this.#names.add(name).size > MAX_NAMES)
        throw malformedAt(this.#text, start, `There are more than ${MAX_NAMES} different names of members`);
      if (this.#next() !== COLON) throw this.#wrong("Expected ':'");
      this.#at += 1;
      setMember(object, name, isOpening(this.#next()) ? yield* this.#container(level + 1) : this.#scalar());
      if (this.#isPause()) yield;
      const next = this.#next();
      if (next === 0x7d) return this.#leave(object);
      if (next !== COMMA) throw this.#wrong("Expected ',' or '}'");
      this.#at += 1;
    }
  }

  *#array(level: number): Pieces<unknown[]> {
    this.#enter(level, 1);
    const array: unknown[] = [];
    if (this.#next() === 0x5d) return this.#leave(array);
    for (let isFirst = true; ; isFirst = false) {
      if (this.#next() === 0x5d && !isFirst) throw this.#wrong("Expected a value after the comma");
      array.push(isOpening(this.#next()) ? yield* this.#container(level + 1) : this.#scalar());
      if (this.#isPause()) yield;
      const next = this.#next();
      if (next === 0x5d) return this.#leave(array);
      if (next !== COMMA) throw this.#wrong("Expected ',' or ']'");
      this.#at += 1;
    }
  }

  #enter(level: number, arrays: number): void {
    if (level > MAX_LEVELS) throw this.#wrong(`There are more than ${MAX_LEVELS} levels`);
    this.#arrays += arrays;
    if (this.#arrays > MAX_ARRAYS)
      throw this.#wrong(`There are more than ${MAX_ARRAYS} arrays, where an object counts as ${ARRAYS_OF_OBJECT}`);
    this.#at += 1;
  }

  #leave<T>(whole: T): T {
    this.#at += 1;
    return whole;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let escaped = false;
    for (let at = start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return escaped ? this.#unescape(start) : text.slice(start + 1, at);
      }
      if (code === BACKSLASH) {
        escaped = true;
        at += 1;
      } else if (code < 0x20) {
        throw malformedAt(text, at, "A text has an unescaped control character");
      }
    }
    throw malformedAt(text, start, "A text has no end");
  }

  #unescape(start: number): string {
    let value: string;
    try {
      value = JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      throw malformedAt(this.#text, start, "A text has an unknown escape");
    }
    if (!value.isWellFormed()) throw malformedAt(this.#text, start, "A text has one half of a surrogate pair");
    return value;
  }

  #number(): number | ExactNumber {
    return this.#digits() ?? this.#anyNumber();
  }

  /** Reads the most common numbers: at most 15 digits and nothing else. */
  #digits(): number | null {
    const text = this.#text;
    let value = 0;
    let at = this.#at;
    let code = text.charCodeAt(at);
    if (code === 0x30) return null;
    for (; code >= 0x30 && code <= 0x39; code = text.charCodeAt(++at)) value = value * 10 + code - 0x30;
    const isMore = code === 0x2e || code === 0x45 || code === 0x65; // . E e
    if (at === this.#at || at - this.#at > 15 || isMore) return null;
    this.#at = at;
    return value;
  }

  #anyNumber(): number | ExactNumber {
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) throw this.#wrong("Expected a value");
    const digits = this.#text.slice(this.#at, NUMBER.lastIndex);
    const value = Number(digits);
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw this.#wrong("A number is too large to be kept exactly");
    }
    if (Number.isInteger(value) && !isWhole(digits))
      throw this.#wrong("A number has a fraction that is too small to be kept");
    const exact = numberIn(digits);
    if (!this.#exactNumbers && doubleOf(exact) === null)
      throw this.#wrong("A number has too many digits to be kept exactly");
    this.#at = NUMBER.lastIndex;
    if (this.#exactNumbers && isExactNumber(exact)) return exact;
    return value === 0 ? 0 : value; // -0 would be written as 0
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#wrong("Expected a value");
    this.#at += word.length;
    return value;
  }

  #isPause(): boolean {
    if (this.#at - this.#paused < LARGE_BYTES) return false;
    this.#paused = this.#at;
    return true;
  }

  /** Returns the next character after white space. NaN at the end. */
  #next(): number {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at);
    this.#at = at;
    return code;
  }

  #wrong(what: string): Problem {
    return malformedAt(this.#text, this.#at, this.#at < this.#text.length ? what : `${what}, but the body ends`);
  }
}

/**
 * True if a JSON number is an integer as written: `1.0`, `1e2` and `120e-1` are integers, `1.0000000000000000000001` is
 * not.
 */
function isWhole(digits: string): boolean {
  if (!digits.includes(".") && !digits.includes("-", 1)) return true;
  const found = FRACTION.exec(digits);
  if (found === null) return true;
  const [, whole = "", fraction = "", exponent = "0"] = found;
  const all = whole + fraction;
  let end = all.length;
  while (end > 0 && all[end - 1] === "0") end--;
  return end === 0 || whole.length + Number(exponent) >= end;
}

// Matches a number with a fraction or an exponent.
const FRACTION = /^-?([0-9]+)(?=[.eE])(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
