import { problem } from "../problem/problem.ts";

/** One parameter of a query, decoded. */
export type QueryParameter = readonly [name: string, value: string];

/**
 * Reads what stands behind the `?`, in order; `+` is a space. Throws `invalid_query` for a `%` without two digits and for bytes that are not
 * UTF-8: what cannot be read is not guessed.
 */
export function parseQuery(query: string): readonly QueryParameter[] {
  if (query === "") return NONE;
  const parameters: QueryParameter[] = [];
  // Most have nothing encoded in them, and one look tells it of all.
  const read = ENCODED.test(query) ? decode : asItIs;
  // To split it costs as much again as all the rest: V8 looks up each part among all texts that it has.
  for (let start = 0, end = 0, equals = -1; start <= query.length; start = end + 1) {
    end = placeOf("&", query, start);
    if (end === start) continue;
    if (equals < start) equals = placeOf("=", query, start);
    const name = read(query.slice(start, Math.min(equals, end)));
    if (name === null) throw broken("", "The name of a query parameter is not percent-encoded UTF-8.");
    const value = equals > end ? "" : read(query.slice(equals + 1, end));
    if (value === null) throw broken(name, "The value is not percent-encoded UTF-8.");
    parameters.push([name, value]);
  }
  return parameters;
}

/** Where the next one is; the end of the text where there is none. */
function placeOf(character: string, text: string, from: number): number {
  const at = text.indexOf(character, from);
  return at === -1 ? text.length : at;
}

/** Writes parameters as a query, as forms and `URLSearchParams` do. */
export function formatQuery(parameters: readonly QueryParameter[]): string {
  let query = "";
  for (const [name, value] of parameters) query += `${query === "" ? "" : "&"}${encodeName(name)}=${encode(value)}`;
  return query;
}

/** The values of one parameter. One that is not percent-encoded UTF-8 holds U+FFFD in place of what cannot be read. */
export function valuesOf(query: string, name: string): readonly string[] {
  return query.split("&").flatMap((part) => (nameOf(part) === name ? [valueOf(part)] : []));
}

/** The query without the parameters that are `taken`, as it was sent for the rest. */
export function withoutParameters(query: string, taken: (name: string) => boolean): string {
  return query
    .split("&")
    .filter((part) => !taken(nameOf(part)))
    .join("&");
}

function nameOf(part: string): string {
  const equals = part.indexOf("=");
  return decode(equals === -1 ? part : part.slice(0, equals)) ?? "";
}

function valueOf(part: string): string {
  const equals = part.indexOf("=");
  return equals === -1 ? "" : (decode(part.slice(equals + 1)) ?? "\ufffd");
}

const NONE: readonly QueryParameter[] = [];

function asItIs(text: string): string | null {
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

/** The names of parameters come again in every query: `id[gt]`. */
const names = new Map<string, string>();
const REMEMBERED = 200;

function encodeName(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const written = encode(name);
  if (names.size >= REMEMBERED) names.clear();
  names.set(name, written);
  return written;
}

function encode(text: string): string {
  if (PLAIN.test(text)) return text;
  return encodeURIComponent(text.toWellFormed()).replace(UNLIKE_FORMS, (part) => asInForms[part]!);
}

const PLAIN = /^[\w*.-]*$/;
// Where `encodeURIComponent` differs from application/x-www-form-urlencoded.
const UNLIKE_FORMS = /%20|[!'()~]/g;
const asInForms: Readonly<Record<string, string>> = {
  "%20": "+",
  "!": "%21",
  "'": "%27",
  "(": "%28",
  ")": "%29",
  "~": "%7E",
};

function broken(name: string, detail: string): Error {
  return problem("invalid_query", { issues: [{ pointer: `?${name}`, code: "malformed", detail }] });
}
