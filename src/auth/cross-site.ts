import type { Call } from "../http/call.ts";
import { problem } from "../problem/problem.ts";

/** Whether a method may change something (RFC 9110 §9.2.1). */
export function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS" && method !== "TRACE";
}

/**
 * Ends a request that another site made a browser send. `allowedOrigins` are exact, as browsers write them; the origin
 * that the request itself names is always ours, a configured public one belongs in the list.
 */
export function requireSameSite(call: Call, allowedOrigins: readonly string[]): void {
  if (isFromAnotherSite(call, allowedOrigins)) throw problem("cross_site");
}

/** Whether a page of another site made a browser send the request. */
export function isFromAnotherSite(call: Call, allowedOrigins: readonly string[]): boolean {
  const site = call.header("sec-fetch-site");
  if (site === "same-origin" || site === "none") return false;
  const origin = call.header("origin");
  // With neither header the caller is no browser, and nobody can make it carry a cookie unasked.
  if (site === undefined && origin === undefined) return false;
  // `null` is what sandboxed documents send, and never anybody's origin.
  if (origin === undefined || origin === "null") return true;
  return origin !== call.client.origin && !allowedOrigins.includes(origin);
}
