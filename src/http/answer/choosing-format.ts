import { problem } from "../../core/problem/problem.ts";
import { readAccept, requireAccept } from "../formats/accept.ts";
import { negotiate, prefers } from "../formats/negotiate.ts";
import { getExchange, type Context, type Exchange } from "../request/exchange.ts";
import type { Format } from "../request/format.ts";

/** Returns the format of the response. Ends the request with 406 if the caller accepts none. */
export function requireFormat(exchange: Exchange): Format {
  const { service, call, endpoint, action } = exchange;
  const { formats } = service;
  // The endpoint always sends this media type (a page, a key set). Then Accept may be ignored (RFC 9110 §12.4.1).
  if (endpoint.produces !== undefined) return formats[0]!;
  if (prefersRedirect(exchange.context)) return formats[0]!;
  const accept = endpoint.query === "ignored" ? readAccept(call, formats) : requireAccept(call, formats);
  let format = negotiate(accept, formats);
  if (format?.shows === "lists" && action !== "list")
    format = negotiate(
      accept,
      formats.filter(({ shows }) => shows !== "lists"),
    );
  if (format === null) throw problem("not_acceptable");
  return format;
}

/** Returns true if the caller prefers a type for which the endpoint redirects. */
export function prefersRedirect(context: Context): boolean {
  const { redirectsFor } = getExchange(context).endpoint;
  return redirectsFor !== undefined && prefersAny(context, redirectsFor);
}

/** Returns true if the caller prefers one of these types to the formats of the service. */
export function prefersAny(context: Context, types: readonly string[]): boolean {
  const { service, call } = getExchange(context);
  return prefers(call.list("accept"), types, service.formats);
}
