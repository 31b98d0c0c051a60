import { problem } from "../problem/problem.ts";
import type { Call } from "./call.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS", "QUERY", "TRACE"]);

/** Whether a method may change something (RFC 9110 §9.2.1; QUERY: RFC 10008). */
export function isUnsafe(method: string): boolean {
  return !SAFE.has(method);
}

/**
 * Ends a request that another site made a browser send. `allowedOrigins` are exact, as browsers write them; the origin
 * that the request itself names is always ours, a configured public one belongs in the list.
 */
export function requireSameSite(call: Call, allowedOrigins: readonly string[]): void {
  if (isFromAnotherSite(call, allowedOrigins)) throw problem("cross_site", { detail: describe(call) });
}

/** Whether a page of another site made a browser send the request. */
export function isFromAnotherSite(call: Call, allowedOrigins: readonly string[]): boolean {
  // Joined where they come twice, as no browser sends them: nobody's then.
  const site = call.list("sec-fetch-site");
  if (site === "same-origin" || site === "none") return false;
  const origin = call.list("origin");
  // With neither header the caller is no browser, and nobody can make it send a credential unasked.
  if (site === undefined && origin === undefined) return false;
  // `null` is what sandboxed documents send, and never anybody's origin.
  if (origin === undefined || origin === "null") return true;
  return origin !== call.client.origin && !allowedOrigins.includes(origin);
}

/** Whoever has to put it right needs to know what was compared. */
function describe(call: Call): string {
  const origin = call.list("origin");
  const ours = call.client.origin;
  const received = origin === undefined ? "no Origin" : `the Origin ${shown(origin)}`;
  const own = ours === null ? "not known, because the request names no host" : shown(ours);
  return `A page of another site sent this request: it came with ${received}, and ours is ${own}. A page that may is named in ${call.about.allowedOrigins}.`;
}

function shown(origin: string): string {
  const plain = origin.replace(/[^\x21-\x7e]/g, "?");
  return plain === "" ? '""' : plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
