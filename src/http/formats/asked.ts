import type { Call } from "../../core/call/call.ts";
import { parseQuery } from "../../core/headers/query.ts";
import { invalid } from "../exchange.ts";
import { FORMAT_PARAMETER, type Format } from "./format.ts";

/** What the caller accepts: the type that `?format=` names where something is read, else `Accept`. Ends the request where nobody knows the name. */
export function requireAccept(call: Call, formats: readonly Format[]): string | undefined {
  const names = formatNames(call);
  if (names.length === 0) return call.list("accept");
  const type = names.length === 1 ? mediaTypeOf(names[0]!, formats) : null;
  if (type !== null) return type;
  throw invalid([
    names.length > 1
      ? { pointer: "?format", code: "repeated", detail: "The parameter must be given once." }
      : { pointer: "?format", code: "invalid", detail: `The formats are ${namesOf(formats).join(", ")}.` },
  ]);
}

/** The same for a caller who is to be told of a problem, and learns it whatever is wrong with the query. */
export function readAccept(call: Call, formats: readonly Format[]): string | undefined {
  try {
    return requireAccept(call, formats);
  } catch {
    return call.list("accept");
  }
}

function formatNames({ method, query }: Call): readonly string[] {
  // What nearly every request asks needs no parsing.
  if (query === "" || (method !== "GET" && method !== "HEAD") || !/format|%/.test(query)) return NONE;
  return parseQuery(query).flatMap(([name, value]) => (name === FORMAT_PARAMETER ? [value] : []));
}

const NONE: readonly string[] = [];

/** Pages have a name whether there are any or not: without them it is as if nobody could give what `Accept` asks for. */
function mediaTypeOf(name: string, formats: readonly Format[]): string | null {
  if (name === "html") return "text/html";
  return formats.find(({ mediaType }) => nameOf(mediaType) === name)?.mediaType ?? null;
}

function namesOf(formats: readonly Format[]): readonly string[] {
  return formats.map(({ mediaType }) => nameOf(mediaType));
}

/** `xml` for `application/xml`. */
function nameOf(mediaType: string): string {
  return mediaType.slice(mediaType.indexOf("/") + 1);
}
