/** The members of `JSON` that TypeScript does not know yet. */
interface NumbersAsText {
  /** Returns an object that `stringify` writes as this text. */
  rawJSON(text: string): object;
  parse(text: string, reviver: (name: string, value: unknown, context: Source) => unknown): unknown;
}

interface Source {
  /** The source text of a number, or of another value without parts. */
  readonly source?: string;
}

const numbersAsText: NumbersAsText = JSON as JSON & NumbersAsText;

/** Lets two copies of the package recognize each other's numbers. */
const exact = Symbol.for("latchkey.exact-number");

/**
 * A number of stored JSON that a double cannot hold: `12345678901234567890`, `1e400`. Responses show it in its stored
 * form, and a change of another member does not alter it. In arithmetic it counts as the nearest double.
 */
export class ExactNumber {
  /** The number in its stored form. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
    Object.freeze(this);
  }

  get [exact](): true {
    return true;
  }

  valueOf(): number {
    return Number(this.text);
  }

  toString(): string {
    return this.text;
  }

  toJSON(): object {
    return numbersAsText.rawJSON(this.text);
  }
}

/** Returns true for a number of stored JSON that a double cannot hold. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === "object" && value !== null && exact in value;
}

/** Returns the number that a JSON number names. If a double loses digits of it, returns an `ExactNumber`. */
export function numberIn(source: string): number | ExactNumber {
  const value = Number(source);
  // At most 15 digits. Only an exponent of three digits could make such a number too small for a double.
  if (source.length <= 16 && !/e/i.test(source)) return value;
  return isDouble(source, value) ? value : new ExactNumber(source);
}

/** The digits that every double can be written with. Some programs write all of them: 0.1 as `0.10000000000000001`. */
const DIGITS_OF_A_DOUBLE = 17;

/** Returns a number as a double. Returns null if the value is no number, or has digits that no double needs. */
export function doubleOf(value: unknown): number | null {
  if (!isExactNumber(value)) return typeof value === "number" ? value : null;
  const digits = /^\d+/.exec(normalizeDigits(value.text).replace("-", ""))![0];
  return digits.length <= DIGITS_OF_A_DOUBLE && Number.isFinite(Number(value.text)) ? Number(value.text) : null;
}

/**
 * Matches numbers that may lose digits. A number with at most 15 digits and an exponent of at most two digits is a
 * double.
 */
const MAY_BE_ROUNDED = /(?<![\d.])-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})[\d.eE+-]*/g;

/**
 * Each match of `MAY_BE_ROUNDED` contains a match of one of these. Most texts contain none, and the search for these
 * two is six times as fast: V8 skips up to eight characters at a time, but only if the pattern repeats the first eight
 * without a quantifier.
 */
const MANY_DIGITS = new RegExp(`${"[\\d.]".repeat(8)}[\\d.]{8}`);
const LARGE_EXPONENT = /[\d.][eE][-+]?\d{3}/;

/**
 * Parses stored JSON and keeps each number that a double cannot hold as an `ExactNumber`. Throws a `SyntaxError` like
 * `JSON.parse`.
 */
export function valueOfJSON(text: string): unknown {
  const unescaped = withoutEscapedNames(text);
  if (!hasExactNumber(unescaped.json)) return parseUnescaped(unescaped);
  return numbersAsText.parse(unescaped.json, (_, value, { source }) => {
    if (typeof value !== "number") return renamed(value, unescaped.names);
    return source !== undefined && !isDouble(source, value) ? new ExactNumber(source) : value;
  });
}

const noNames: ReadonlyMap<string, string> = new Map();
const NAME_FOLLOWS = /[ \t\n\r]*:/y;

/**
 * Parses JSON of any origin. Throws a `SyntaxError` like `JSON.parse`, which misreads names with escapes in V8 14.6:
 * after it has read `{"a\\":1}`, it reads `{"a\"":1}` as `{"a\\":1}`. So a text of one client could rename members in a
 * text of another.
 */
export function parseJSON(text: string): unknown {
  return parseUnescaped(withoutEscapedNames(text));
}

/** JSON in which no name has an escape, and the names that it has in the place of others. */
interface Unescaped {
  readonly json: string;
  readonly names: ReadonlyMap<string, string>;
}

function parseUnescaped({ json, names }: Unescaped): unknown {
  return names.size === 0 ? JSON.parse(json) : JSON.parse(json, (_, value: unknown) => renamed(value, names));
}

/** Returns true if the name of a member has an escape. Looks only at the strings that have one. */
function hasEscapedName(text: string): boolean {
  for (let escape = text.indexOf("\\"); escape !== -1;) {
    const end = positionAfterString(text, escape - 1);
    NAME_FOLLOWS.lastIndex = end;
    if (NAME_FOLLOWS.test(text)) return true;
    escape = text.indexOf("\\", end);
  }
  return false;
}

function withoutEscapedNames(text: string): Unescaped {
  if (!hasEscapedName(text)) return { json: text, names: noNames };
  let mark = "\uf8ff";
  while (text.includes(mark)) mark += mark;
  const names = new Map<string, string>();
  const marked = new Map<string, string>();
  let json = "";
  let copied = 0;
  for (let start = text.indexOf('"'); start !== -1;) {
    const end = positionAfterString(text, start);
    NAME_FOLLOWS.lastIndex = end;
    const written = NAME_FOLLOWS.test(text) ? text.slice(start, end) : "";
    if (written.includes("\\")) {
      const name = JSON.parse(written) as string;
      let safe = JSON.stringify(name);
      if (safe.includes("\\") || name.includes(mark)) {
        const other = marked.get(name) ?? `${mark}${marked.size}`;
        marked.set(name, other);
        names.set(other, name);
        safe = `"${other}"`;
      }
      json += text.slice(copied, start) + safe;
      copied = end;
    }
    start = text.indexOf('"', end);
  }
  return { json: json + text.slice(copied), names };
}

function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0 || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (!entries.some(([name]) => names.has(name))) return value;
  return Object.fromEntries(entries.map(([name, member]) => [names.get(name) ?? name, member]));
}

/**
 * Returns true if JSON has a number that a double cannot hold. Only such JSON is parsed with a reviver, because a
 * reviver makes parsing forty times as slow.
 */
function hasExactNumber(text: string): boolean {
  if (!MANY_DIGITS.test(text) && !LARGE_EXPONENT.test(text)) return false;
  // The position after the last skipped string.
  let end = 0;
  for (const { 0: source, index } of text.matchAll(MAY_BE_ROUNDED)) {
    if (isDouble(source, Number(source))) continue;
    // Digits within a string are no number.
    while (end <= index) {
      const quote = text.indexOf('"', end);
      if (quote === -1 || quote > index) return true;
      end = positionAfterString(text, quote);
    }
  }
  return false;
}

/** Returns the position after the string that begins here. */
function positionAfterString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}

function isDouble(source: string, value: number): boolean {
  return (
    Number.isFinite(value) && (String(value) === source || normalizeDigits(source) === normalizeDigits(String(value)))
  );
}

/**
 * Returns the digits of a number without leading and trailing zeros, and the position of the last one. `1.50` and
 * `15e-1` are equal.
 */
function normalizeDigits(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  if (end === 0) return "0";
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/**
 * Returns a JSON value with a double in place of each exact number that has no more digits than a double needs. Returns
 * the value itself if it has no such number.
 */
export function copyWithDoubles(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isExactNumber(value)) return doubleOf(value) ?? value;
  const entries = Object.entries(value).map(([name, each]) => [name, copyWithDoubles(each)] as const);
  if (Object.values(value).every((each, at) => each === entries[at]![1])) return value;
  if (Array.isArray(value)) return entries.map(([, each]) => each);
  return Object.fromEntries(entries);
}

/** Copies a JSON value. Other values are cloned like `structuredClone`. */
export function copyOfJSON<T>(value: T): T {
  return copied(value, new Map()) as T;
}

function copied(value: unknown, copies: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (copies.has(value)) return copies.get(value);
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    copies.set(value, list);
    for (const each of value) list.push(copied(each, copies));
    return list;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  copies.set(value, copy);
  for (const [name, each] of Object.entries(value)) {
    const member = copied(each, copies);
    // An assignment would set the prototype.
    if (name === "__proto__")
      Object.defineProperty(copy, name, { value: member, writable: true, enumerable: true, configurable: true });
    else copy[name] = member;
  }
  return copy;
}
