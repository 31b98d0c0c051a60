import { problem, type Problem } from "../../core/problem/problem.ts";

/** The deepest nesting of objects and arrays, or elements, that every reader allows. */
export const MAX_LEVELS = 32;

/**
 * The maximum number of different member names in a body. A new name costs as much as ten values, and no resource has
 * so many members.
 */
export const MAX_NAMES = 10_000;

/**
 * The maximum number of arrays in a body. An object or an XML element counts as several, because it costs more memory.
 */
export const MAX_ARRAYS = 100_000;
/** The number of arrays that an object counts as. */
export const ARRAYS_OF_OBJECT = 4;

// The byte order mark is kept, because the format decides whether it is allowed.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a body. Throws the problem `malformed` if it is empty or not valid UTF-8. */
export function requireText(bytes: Uint8Array): string {
  if (bytes.length === 0) throw problem("malformed", { detail: "The body is empty." });
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw problem("malformed", { detail: "The body is not valid UTF-8.", cause });
  }
}

const LINE_FEED = 0x0a;

/**
 * Creates the problem `malformed` with the mistake, its line and its column. The message does not contain the text at
 * that place, which may be a password.
 */
export function malformedAt(text: string, at: number, what: string): Problem {
  let line = 1;
  let before = -1;
  for (let index = 0; index < at; index++) {
    if (text.charCodeAt(index) !== LINE_FEED) continue;
    line++;
    before = index;
  }
  const column = at - before;
  return problem("malformed", { detail: `${what} (line ${line}, column ${column}).` });
}

/** Returns a name for a message: quoted and not too long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 64)}…`);
}
