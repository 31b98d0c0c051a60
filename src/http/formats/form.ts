import type { ReadBody } from "../request/format.ts";
import { setMember } from "./member.ts";
import { malformedAt, quoted, requireText } from "./text.ts";

/** The media type of HTML forms (URL standard §5.1). Endpoints that name it can read it. No response uses it. */
export const formType = "application/x-www-form-urlencoded";

/** The maximum number of fields in a form. No real form has more. */
const MAX_FIELDS = 100;

/** The maximum number of texts in a form whose names may repeat. Each checked checkbox is one. */
const MAX_TEXTS = 1000;

/**
 * Reads a form strictly, so that it has only one meaning: each name occurs once, escapes are complete, and the text is
 * UTF-8. Throws the problem `malformed`, whose detail names the place.
 */
export function readForm(bytes: Uint8Array): ReadBody {
  const text = requireText(bytes);
  const value: Record<string, unknown> = {};
  for (const { at, name, content } of readPairs(text, MAX_FIELDS)) {
    if (Object.hasOwn(value, name)) throw malformedAt(text, at, `The field ${quoted(name)} is given twice`);
    setMember(value, name, content);
  }
  return { value, typed: false };
}

/** Reads a form in which names may repeat, as those of checkboxes do. A form without fields is empty. */
export function readTexts(bytes: Uint8Array): ReadonlyMap<string, readonly string[]> {
  const texts = new Map<string, string[]>();
  if (bytes.length === 0) return texts;
  for (const { name, content } of readPairs(requireText(bytes), MAX_TEXTS)) {
    const earlier = texts.get(name);
    if (earlier === undefined) texts.set(name, [content]);
    else earlier.push(content);
  }
  return texts;
}

interface Pair {
  /** The place of the pair in the text. */
  readonly at: number;
  readonly name: string;
  readonly content: string;
}

function* readPairs(text: string, most: number): Generator<Pair> {
  let count = 0;
  for (let at = 0; at <= text.length;) {
    const end = findEnd(text, "&", at, text.length);
    if (end > at) {
      if (++count > most) throw malformedAt(text, at, `There are more than ${most} fields`);
      const equals = findEnd(text, "=", at, end);
      yield { at, name: decode(text, at, equals), content: decode(text, Math.min(equals + 1, end), end) };
    }
    at = end + 1;
  }
}

function findEnd(text: string, mark: string, from: number, end: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 || at > end ? end : at;
}

function decode(text: string, from: number, to: number): string {
  try {
    return decodeURIComponent(text.slice(from, to).replaceAll("+", " "));
  } catch {
    throw malformedAt(text, from, "A field has an incomplete escape, or is not UTF-8");
  }
}
