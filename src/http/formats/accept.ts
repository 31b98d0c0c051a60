import type { Call } from "../../core/call/call.ts";
import { parseQuery } from "../../core/headers/query.ts";
import { invalid } from "../request/exchange.ts";
import { FORMAT_PARAMETER, type Format } from "../request/format.ts";

/**
 * Returns the media types that the caller accepts: the type of `?format=` on a read, otherwise `Accept`. Ends the
 * request if `?format=` names an unknown format or is given twice.
 */
export function requireAccept(call: Call, formats: readonly Format[]): string | undefined {
  const names = formatNames(call);
  if (names.length === 0) return call.list("accept");
  const type = names.length === 1 ? findMediaType(names[0]!, formats) : null;
  if (type !== null) return type;
  throw invalid([
    names.length > 1
      ? { pointer: "?format", code: "repeated", detail: "The parameter must be given once." }
      : { pointer: "?format", code: "invalid", detail: `The formats are ${listFormatNames(formats).join(", ")}.` },
  ]);
}

/**
 * Returns the media types that the caller accepts, like `requireAccept`. Ignores `?format=` if it is wrong, so that a
 * response to a failed request can always be written.
 */
export function readAccept(call: Call, formats: readonly Format[]): string | undefined {
  try {
    return requireAccept(call, formats);
  } catch {
    return call.list("accept");
  }
}

function formatNames({ method, query }: Call): readonly string[] {
  // Nearly all requests need no parsing.
  if (query === "" || (method !== "GET" && method !== "HEAD") || !/format|%/.test(query)) return NONE;
  return parseQuery(query).flatMap(([name, value]) => (name === FORMAT_PARAMETER ? [value] : []));
}

const NONE: readonly string[] = [];

/**
 * Returns the media type of a name. `html` always has a media type: if the service has no pages, the request is
 * answered like an `Accept` that no format satisfies.
 */
function findMediaType(name: string, formats: readonly Format[]): string | null {
  if (name === "html") return "text/html";
  return formats.find(({ mediaType }) => extractSubtype(mediaType) === name)?.mediaType ?? null;
}

function listFormatNames(formats: readonly Format[]): readonly string[] {
  return formats.map(({ mediaType }) => extractSubtype(mediaType));
}

/** Returns the name of a media type: `xml` for `application/xml`. */
function extractSubtype(mediaType: string): string {
  return mediaType.slice(mediaType.indexOf("/") + 1);
}
