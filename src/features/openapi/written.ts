import { isObject } from "../../core/checking/members.ts";
import { parseJSON } from "../../core/exact-numbers.ts";
import type { Pieces } from "../../http/scheduling/slices.ts";
import { withoutXML, type JSONObject } from "./json.ts";

/** The facts about an operation that are known without parsing it. */
export interface OperationFacts {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
}

/**
 * A part of the document in the form that is sent. It is stored as text. As objects, the parts of hundreds of mounts
 * would need several times as much memory.
 */
export class Part {
  #text: Uint8Array;
  /** The components that the part refers to. */
  readonly refs: readonly string[];
  readonly facts: OperationFacts | null;

  constructor(value: unknown, speaksXML: boolean, facts: OperationFacts | null = null) {
    const content = speaksXML ? value : withoutXML(value);
    this.#text = Buffer.from(JSON.stringify(content));
    this.refs = [...refsIn(content)];
    this.facts = facts;
  }

  get text(): Uint8Array {
    return this.#text;
  }

  /** Replaces the text by the same text inside the whole document, so that it is stored only once. */
  moveTo(text: Uint8Array): void {
    this.#text = text;
  }

  /** Parses the sent text again, so pages show exactly what is sent. */
  read(): unknown {
    return parseJSON(Buffer.from(this.#text.buffer, this.#text.byteOffset, this.#text.length).toString());
  }
}

/** Returns all components that a value refers to. */
function refsIn(value: unknown, refs: Set<string> = new Set()): ReadonlySet<string> {
  if (typeof value !== "object" || value === null) return refs;
  for (const [name, each] of Object.entries(value)) {
    if (name === "$ref" && typeof each === "string") refs.add(each);
    else refsIn(each, refs);
  }
  return refs;
}

/** Writes a document, byte for byte as `JSON.stringify` would. Its parts then refer to the written text. */
export function* writeDocument(document: JSONObject): Pieces<Uint8Array> {
  const texts = [...serializeParts(document)];
  const whole = Buffer.allocUnsafeSlow(texts.reduce((sum, each) => sum + toBytes(each).length, 0));
  let at = 0;
  // Allocating many megabytes in one step would also block the event loop.
  for (const each of texts) {
    const bytes = toBytes(each);
    whole.set(bytes, at);
    if (each instanceof Part) each.moveTo(whole.subarray(at, at + bytes.length));
    at += bytes.length;
    yield;
  }
  return whole;
}

function toBytes(each: Part | Uint8Array): Uint8Array {
  return each instanceof Part ? each.text : each;
}

function* serializeParts(value: unknown): Generator<Part | Uint8Array> {
  if (value instanceof Part || !isObject(value)) {
    yield value instanceof Part ? value : Buffer.from(JSON.stringify(value));
    return;
  }
  let before = "{";
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue;
    yield Buffer.from(`${before}${JSON.stringify(name)}:`);
    yield* serializeParts(each);
    before = ",";
  }
  yield Buffer.from(before === "{" ? "{}" : "}");
}

/** Returns the document as a value, with all text parsed. */
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
