import { valueOfJSON } from "../../../core/exact-numbers.ts";

/** The number of characters between two pauses. */
const STEP = 4096;

/** The number of members or parts between two pauses. */
const SOME = 32;

/** The maximum number of members whose names are compared one by one. The names of a larger object are in a set. */
const FEW = 16;

/**
 * The count of noted numbers of a member: the start and the end of its name, the end of its value, the hash of its
 * name.
 */
const NOTED = 4;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Returns JSON without repeated members of an object: each name keeps its first place and gets its last value, as
 * `valueOfJSON` reads it. Other programs may store such JSON, and a reader may take either value (RFC 8259 §4). The
 * spelling of numbers, texts and names stays the same. Returns JSON without repeated members unchanged. Pauses after
 * each small step.
 */
export function* withoutRepeatedMembers(json: string): Generator<undefined, string, undefined> {
  const scan = new Scan(json);
  const rewritten: Part[] = [];
  while (!scan.isAtEnd) {
    const found = scan.advance();
    if (found !== null) rewritten.push(yield* rewrite(json, found, rewritten));
    yield;
  }
  let text = "";
  let copied = 0;
  for (const [at, part] of rewritten.entries()) {
    text += json.slice(copied, part.start) + part.text;
    copied = part.end;
    if (at % SOME === 0) yield;
  }
  return text + json.slice(copied);
}

/** A new text for a part of the JSON. */
interface Part {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** An object that may repeat a member, and the numbers of its members (`NOTED`). */
interface Found extends Pick<Part, "start" | "end"> {
  readonly members: Int32Array;
}

/** An object or an array that is not closed yet. */
interface Open {
  readonly isObject: boolean;
  readonly start: number;
  /** The place of its first member in the noted numbers. */
  readonly first: number;
  /** The hashes of the names. Null if there are only a few. */
  hashes: Set<number> | null;
  mayRepeat: boolean;
}

/**
 * Reads JSON character by character, and finds objects in which two names have the same hash. This creates no texts, so
 * it takes some milliseconds for a MiB.
 */
class Scan {
  readonly #json: string;
  #at = 0;
  /** True if the position is within a value that is a text. */
  #isInText = false;
  /** True if the next text is a name. */
  #isName = false;
  #current: Open = { isObject: false, start: 0, first: 0, hashes: null, mayRepeat: false };
  readonly #outer: Open[] = [];
  /** The numbers of the members of all open objects. */
  #noted = new Int32Array(64 * NOTED);
  #end = 0;

  constructor(json: string) {
    this.#json = json;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#json.length;
  }

  /** Reads the next characters. Stops after an object that may repeat a member, and returns the object. */
  advance(): Found | null {
    const json = this.#json;
    const end = Math.min(this.#at + STEP, json.length);
    let at = this.#isInText ? this.#skipText(this.#at, end) : this.#at;
    let found: Found | null = null;
    while (at < end && found === null) {
      switch (json.charCodeAt(at++)) {
        case QUOTE:
          at = this.#isName ? this.#noteName(at) : this.#skipText(at, end);
          break;
        case COMMA:
          this.#endValue(at - 1);
          this.#isName = this.#current.isObject;
          break;
        case OPEN_OBJECT:
          this.#open(true, at - 1);
          break;
        case OPEN_ARRAY:
          this.#open(false, at - 1);
          break;
        case CLOSE_ARRAY:
          this.#current = this.#outer.pop()!;
          break;
        case CLOSE_OBJECT:
          found = this.#closeObject(at);
      }
    }
    this.#at = at;
    return found;
  }

  /** Returns the position after the text. If the text is longer, stops behind `end`, within the text. */
  #skipText(from: number, end: number): number {
    const json = this.#json;
    let at = from;
    this.#isInText = true;
    while (at < end) {
      const quote = json.indexOf('"', at);
      if (quote === -1) return json.length;
      at = quote + 1;
      let escapes = 0;
      while (json.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes++;
      if (escapes % 2 === 1) continue;
      this.#isInText = false;
      break;
    }
    return at;
  }

  /** Notes a name, and returns the position after it. */
  #noteName(from: number): number {
    const json = this.#json;
    const { length } = json;
    let at = from;
    let hash = 0;
    let isEscaped = false;
    while (at < length) {
      const code = json.charCodeAt(at++);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        isEscaped = true;
        at++;
      }
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    this.#isName = false;
    this.#note(from - 1, at, isEscaped ? hashOf(readName(json.slice(from - 1, at))) : hash);
    return at;
  }

  #note(start: number, end: number, hash: number): void {
    const current = this.#current;
    if (!current.mayRepeat) current.mayRepeat = this.#hasNoted(current, hash);
    const place = this.#end;
    if (place + NOTED > this.#noted.length) {
      const longer = new Int32Array(2 * this.#noted.length);
      longer.set(this.#noted);
      this.#noted = longer;
    }
    const noted = this.#noted;
    noted[place] = start;
    noted[place + 1] = end;
    noted[place + 3] = hash;
    this.#end = place + NOTED;
  }

  #hasNoted(current: Open, hash: number): boolean {
    const noted = this.#noted;
    const end = this.#end;
    if (current.hashes === null) {
      for (let at = current.first + 3; at < end; at += NOTED) if (noted[at] === hash) return true;
      if (end - current.first < FEW * NOTED) return false;
      current.hashes = new Set();
      for (let at = current.first + 3; at < end; at += NOTED) current.hashes.add(noted[at]!);
    }
    if (current.hashes.has(hash)) return true;
    current.hashes.add(hash);
    return false;
  }

  /** Notes the end of a value before a comma or a brace. The members of inner objects are removed already. */
  #endValue(at: number): void {
    if (this.#current.isObject) this.#noted[this.#end - 2] = at;
  }

  #open(isObject: boolean, start: number): void {
    this.#outer.push(this.#current);
    this.#current = { isObject, start, first: this.#end, hashes: null, mayRepeat: false };
    this.#isName = isObject;
  }

  #closeObject(end: number): Found | null {
    const { start, first, mayRepeat } = this.#current;
    if (first < this.#end) this.#endValue(end - 1);
    const members = mayRepeat ? this.#noted.slice(first, this.#end) : null;
    this.#end = first;
    this.#isName = false;
    this.#current = this.#outer.pop()!;
    return members === null ? null : { start, end, members };
  }
}

/** Returns the new text of an object. Removes the parts within the object from `rewritten`. */
function* rewrite(
  json: string,
  { start, end, members }: Found,
  rewritten: Part[],
): Generator<undefined, Part, undefined> {
  let inner = rewritten.length;
  while (inner > 0 && rewritten[inner - 1]!.start > start) inner--;
  const parts = rewritten.splice(inner).values();
  const values = new Map<string, { readonly written: string; value: string }>();
  let part = parts.next();
  let steps = 0;
  for (let at = 0; at < members.length; at += NOTED) {
    const [nameStart, nameEnd, valueEnd] = [members[at]!, members[at + 1]!, members[at + 2]!];
    let value = "";
    let copied = nameEnd;
    for (; part.done !== true && part.value.start < valueEnd; part = parts.next()) {
      value += json.slice(copied, part.value.start) + part.value.text;
      copied = part.value.end;
      if (++steps % SOME === 0) yield;
    }
    value += json.slice(copied, valueEnd);
    const written = json.slice(nameStart, nameEnd);
    const name = readName(written);
    const before = values.get(name);
    if (before === undefined) values.set(name, { written, value });
    else before.value = value;
    if (++steps % SOME === 0) yield;
  }
  let text = "";
  for (const { written, value } of values.values()) {
    text += (text === "" ? "{" : ",") + written + value;
    if (++steps % SOME === 0) yield;
  }
  return { start, end, text: `${text}}` };
}

/** Returns the name that a member has. It may be written with escapes: `"\u0061"` is `a`. */
function readName(written: string): string {
  return written.includes("\\") ? (valueOfJSON(written) as string) : written.slice(1, -1);
}

function hashOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
  return hash;
}
