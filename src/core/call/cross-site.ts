import { problem } from "../problem/problem.ts";
import type { Call } from "./call.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS", "QUERY", "TRACE"]);

/** Returns true if a method may change something (RFC 9110 §9.2.1; QUERY: RFC 10008). */
export function isUnsafe(method: string): boolean {
  return !SAFE.has(method);
}

/**
 * Ends the request with 403 `cross_site` if a page of another site made a browser send it. The origin that the caller
 * used (scheme and host of the request) is always allowed. `allowedOrigins` are the other allowed origins, in the
 * spelling of browsers. A configured public origin must be in this list.
 */
export function requireSameSite(call: Call, allowedOrigins: readonly string[]): void {
  if (isFromAnotherSite(call, allowedOrigins)) throw problem("cross_site", { detail: describe(call) });
}

/** Returns true if a page of another site made a browser send the request. */
export function isFromAnotherSite(call: Call, allowedOrigins: readonly string[]): boolean {
  // A browser sends this header field once. If a request has it twice, `list` joins both values to a text that equals
  // no valid value.
  const site = call.list("sec-fetch-site");
  if (site === "same-origin" || site === "none") return false;
  const origin = call.list("origin");
  // Without both header fields the caller is not a browser, so no site can make it send a credential.
  if (site === undefined && origin === undefined) return false;
  // Sandboxed documents send `null`. It is never the origin of a trusted page.
  if (origin === undefined || origin === "null") return true;
  return origin !== call.client.origin && !allowedOrigins.includes(origin);
}

/** Describes the compared origins. The operator needs them to fix the configuration. */
function describe(call: Call): string {
  const origin = call.list("origin");
  const ours = call.client.origin;
  const received = origin === undefined ? "no Origin" : `the Origin ${shown(origin)}`;
  const own = ours === null ? "not known, because the request names no host" : shown(ours);
  return `A page of another site sent this request: it came with ${received}, and the origin of this service is ${own}. Allow other origins in ${call.about.allowedOrigins}.`;
}

function shown(origin: string): string {
  const plain = origin.replace(/[^\x21-\x7e]/g, "?");
  return plain === "" ? '""' : plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
