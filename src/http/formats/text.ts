import { problem, type Problem } from "../../core/problem/problem.ts";

/** What every reader allows: objects and arrays, or elements, within each other. */
export const MAX_LEVELS = 32;

/** How many different names of members a body may have: each new one costs as much as ten values, and no resource has so many. */
export const MAX_NAMES = 10_000;

/**
 * How many arrays a body may have. An object counts as four, and so does an element of XML: each may have members that no other
 * has, and is made anew then.
 */
export const MAX_ARRAYS = 100_000;
/** As how many arrays an object counts. */
export const ARRAYS_OF_OBJECT = 4;

// The byte order mark is kept: whether one may stand there is the format's question.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a body in strict UTF-8. Throws the problem `malformed`. */
export function requireText(bytes: Uint8Array): string {
  if (bytes.length === 0) throw problem("malformed", { detail: "The body is empty." });
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw problem("malformed", { detail: "The body is not valid UTF-8.", cause });
  }
}

const LINE_FEED = 0x0a;

/** What is wrong, and where; never what stands there, for it may be a password. */
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

/** A name as it may stand in a message: quoted and not too long. */
export function quoted(name: string): string {
  return JSON.stringify(name.length <= 64 ? name : `${name.slice(0, 64)}…`);
}
