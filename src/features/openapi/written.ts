import { isObject } from "../../core/checking/members.ts";
import type { Pieces } from "../../http/body/turns.ts";
import { withoutXML, type JSONObject } from "./json.ts";

/** What is known of an operation without reading it. */
export interface OperationFacts {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
}

/** A part of the document as it is sent. Hundreds of mounts are megabytes of text, and several times that as objects. */
export class Part {
  #text: Uint8Array;
  /** What it points at. */
  readonly refs: readonly string[];
  readonly facts: OperationFacts | null;

  constructor(value: unknown, speaksXML: boolean, facts: OperationFacts | null = null) {
    const told = speaksXML ? value : withoutXML(value);
    this.#text = Buffer.from(JSON.stringify(told));
    this.refs = [...refsIn(told)];
    this.facts = facts;
  }

  get text(): Uint8Array {
    return this.#text;
  }

  /** The same text stands there too: there need not be two of it. */
  moveTo(text: Uint8Array): void {
    this.#text = text;
  }

  /** What is shown is what is sent, read anew. */
  read(): unknown {
    return JSON.parse(Buffer.from(this.#text.buffer, this.#text.byteOffset, this.#text.length).toString()) as unknown;
  }
}

/** Everything that a value points at. */
function refsIn(value: unknown, refs: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value !== "object" || value === null) return refs;
  for (const [name, each] of Object.entries(value)) {
    if (name === "$ref" && typeof each === "string") refs.add(each);
    else refsIn(each, refs);
  }
  return refs;
}

/** Writes a document, byte for byte as `JSON.stringify` would. Its parts then stand in what was written. */
export function* writeDocument(document: JSONObject): Pieces<Uint8Array> {
  const texts = [...textsOf(document)];
  const whole = Buffer.allocUnsafeSlow(texts.reduce((sum, each) => sum + bytesOf(each).length, 0));
  let at = 0;
  // The memory of many megabytes is a pause too where it is taken at once.
  for (const each of texts) {
    const bytes = bytesOf(each);
    whole.set(bytes, at);
    if (each instanceof Part) each.moveTo(whole.subarray(at, at + bytes.length));
    at += bytes.length;
    yield;
  }
  return whole;
}

function bytesOf(each: Part | Uint8Array): Uint8Array {
  return each instanceof Part ? each.text : each;
}

function* textsOf(value: unknown): Generator<Part | Uint8Array> {
  if (value instanceof Part || !isObject(value)) {
    yield value instanceof Part ? value : Buffer.from(JSON.stringify(value));
    return;
  }
  let before = "{";
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue;
    yield Buffer.from(`${before}${JSON.stringify(name)}:`);
    yield* textsOf(each);
    before = ",";
  }
  yield Buffer.from(before === "{" ? "{}" : "}");
}

/** The document as a value, of which nothing is text. */
export function* readDocument(value: unknown): Pieces<unknown> {
  if (value instanceof Part) {
    yield;
    return value.read();
  }
  if (!isObject(value)) return value;
  const members: [string, unknown][] = [];
  for (const [name, each] of Object.entries(value)) members.push([name, yield* readDocument(each)]);
  return Object.fromEntries(members);
}
