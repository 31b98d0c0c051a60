import { problem } from "../problem/problem.ts";

/** One parameter of a query, decoded. */
export type QueryParameter = readonly [name: string, value: string];

/**
 * Parses the query after the `?`, in order. `+` is a space. Throws `invalid_query` for a `%` without two digits and for
 * bytes that are not UTF-8, instead of guessing.
 */
export function parseQuery(query: string): readonly QueryParameter[] {
  if (query === "") return NONE;
  const parameters: QueryParameter[] = [];
  // Most queries contain no encoded character. One check finds this out for all parameters.
  const read = ENCODED.test(query) ? decode : keepUnchanged;
  // Splitting the text would double the cost, because V8 stores each part in its table of strings.
  for (let start = 0, end = 0, equals = -1; start <= query.length; start = end + 1) {
    end = locateCharacter("&", query, start);
    if (end === start) continue;
    if (equals < start) equals = locateCharacter("=", query, start);
    const name = read(query.slice(start, Math.min(equals, end)));
    if (name === null) throw malformedQuery("", "The name of a query parameter is not percent-encoded UTF-8.");
    const value = equals > end ? "" : read(query.slice(equals + 1, end));
    if (value === null) throw malformedQuery(name, "The value is not percent-encoded UTF-8.");
    parameters.push([name, value]);
  }
  return parameters;
}

/** Returns the position of the next such character. Returns the end of the text if there is none. */
function locateCharacter(character: string, text: string, from: number): number {
  const at = text.indexOf(character, from);
  return at === -1 ? text.length : at;
}

/** Formats parameters as a query, like forms and `URLSearchParams`. */
export function formatQuery(parameters: readonly QueryParameter[]): string {
  let query = "";
  for (const [name, value] of parameters) query += `${query === "" ? "" : "&"}${encodeName(name)}=${encode(value)}`;
  return query;
}

/**
 * Returns the values of one parameter. A value that is not percent-encoded UTF-8 contains U+FFFD for each unreadable
 * part.
 */
export function collectValues(query: string, name: string): readonly string[] {
  return query.split("&").flatMap((part) => (decodeName(part) === name ? [decodeValue(part)] : []));
}

/** Returns the query without the parameters for which `taken` returns true. The rest is unchanged. */
export function withoutParameters(query: string, taken: (name: string) => boolean): string {
  return query
    .split("&")
    .filter((part) => !taken(decodeName(part)))
    .join("&");
}

function decodeName(part: string): string {
  const equals = part.indexOf("=");
  return decode(equals === -1 ? part : part.slice(0, equals)) ?? "";
}

function decodeValue(part: string): string {
  const equals = part.indexOf("=");
  return equals === -1 ? "" : (decode(part.slice(equals + 1)) ?? "\ufffd");
}

const NONE: readonly QueryParameter[] = [];

function keepUnchanged(text: string): string | null {
  return text;
}

function decode(text: string): string | null {
  if (!ENCODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

const ENCODED = /[%+]/;

/** Encoded names of parameters (`id[gt]`), cached because formatted queries repeat the same names. */
const cachedNames = new Map<string, string>();
const MAX_CACHED_NAMES = 200;

function encodeName(name: string): string {
  const cached = cachedNames.get(name);
  if (cached !== undefined) return cached;
  const written = encode(name);
  if (cachedNames.size >= MAX_CACHED_NAMES) cachedNames.clear();
  cachedNames.set(name, written);
  return written;
}

function encode(text: string): string {
  if (PLAIN.test(text)) return text;
  return encodeURIComponent(text.toWellFormed()).replace(UNLIKE_FORMS, (part) => asInForms[part]!);
}

const PLAIN = /^[\w*.-]*$/;
// The differences between `encodeURIComponent` and application/x-www-form-urlencoded.
const UNLIKE_FORMS = /%20|[!'()~]/g;
const asInForms: Readonly<Record<string, string>> = {
  "%20": "+",
  "!": "%21",
  "'": "%27",
  "(": "%28",
  ")": "%29",
  "~": "%7E",
};

function malformedQuery(name: string, detail: string): Error {
  return problem("invalid_query", { issues: [{ pointer: `?${name}`, code: "malformed", detail }] });
}
