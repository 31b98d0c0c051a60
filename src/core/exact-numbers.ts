/** What TypeScript does not know of `JSON` yet. */
interface NumbersAsText {
  /** What `stringify` writes as this text. */
  rawJSON(text: string): object;
  parse(text: string, reviver: (name: string, value: unknown, context: Source) => unknown): unknown;
}

interface Source {
  /** The text of a number, and of what else has no parts. */
  readonly source?: string;
}

const numbersAsText: NumbersAsText = JSON as JSON & NumbersAsText;

/** Two copies of the package know each other's numbers by it. */
const exact = Symbol.for("latchkey.exact-number");

/**
 * A number of stored JSON that no double holds: `12345678901234567890`, `1e400`. Answers show it as it is stored, and a change of another member
 * leaves it as it is. In arithmetic it counts as the nearest double.
 */
export class ExactNumber {
  /** The number as it is stored. */
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

/** Returns true for a number that stored JSON holds and no double does. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return typeof value === "object" && value !== null && exact in value;
}

/** A number of at most 15 digits, and an exponent of at most two, is a double. */
const MAY_BE_ROUNDED = /(?<![\d.])-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})[\d.eE+-]*/g;

/** Reads stored JSON and keeps each number that no double holds as an `ExactNumber`. Throws a `SyntaxError` as `JSON.parse` does. */
export function valueOfJSON(text: string): unknown {
  if (!hasExactNumber(text)) return JSON.parse(text);
  return numbersAsText.parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && !isDouble(source, value) ? new ExactNumber(source) : value,
  );
}

/** Returns true if JSON has a number that no double holds. To parse each number by itself takes forty times as long as `JSON.parse`. */
function hasExactNumber(text: string): boolean {
  if (text.search(MAY_BE_ROUNDED) === -1) return false;
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote === -1 ? text.length : quote;
    if (end - at >= SHORTEST && hasExactNumberIn(text.slice(at, end))) return true;
    at = end === text.length ? end : behindString(text, quote);
  }
  return false;
}

/** The length of the shortest number that no double holds: `1e999`. */
const SHORTEST = 5;

function hasExactNumberIn(numbers: string): boolean {
  for (const [source] of numbers.matchAll(MAY_BE_ROUNDED)) if (!isDouble(source, Number(source))) return true;
  return false;
}

/** Returns the place behind the string that begins at this one. */
function behindString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}

function isDouble(source: string, value: number): boolean {
  return Number.isFinite(value) && (String(value) === source || digitsOf(source) === digitsOf(String(value)));
}

/** The digits of a number without nothings around them, and the place of the last one: `1.50` and `15e-1` are the same. */
function digitsOf(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  if (end === 0) return "0";
  return `${sign}${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** Copies a JSON value. What JSON cannot say is cloned as `structuredClone` does. */
export function copyOfJSON<T>(value: T): T {
  return copied(value, new Map()) as T;
}

function copied(value: unknown, known: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return value;
  if (known.has(value)) return known.get(value);
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    known.set(value, list);
    for (const each of value) list.push(copied(each, known));
    return list;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  known.set(value, copy);
  for (const [name, each] of Object.entries(value)) {
    const member = copied(each, known);
    // Assigned, it would become the prototype.
    if (name === "__proto__")
      Object.defineProperty(copy, name, { value: member, writable: true, enumerable: true, configurable: true });
    else copy[name] = member;
  }
  return copy;
}
