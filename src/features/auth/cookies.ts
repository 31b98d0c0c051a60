import type { Call } from "../../core/call/call.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import { problem } from "../../core/problem/problem.ts";
import type { Context } from "../../http/exchange.ts";

/** A field of an answer. */
export type Header = readonly [name: string, value: string];

/** Whether a cookie is for TLS alone: left out only where the caller is on this machine and there is no TLS to send it over. */
export function isSecure({ client }: Call): boolean {
  return client.encrypted || !client.loopback;
}

/** The value of a cookie; null where there is none. Two different ones end the request. */
export function requireOneCookie(call: Call, name: string): string | null {
  const value = call.cookie(name);
  if (value === null) throw problem("duplicate_credentials");
  return value ?? null;
}

/**
 * Ends a request (403) by which a page of another site would log its visitor in as somebody else (login CSRF). A link that is followed may
 * log in, as those in mails do: of whatever else another site asks for by GET, browsers keep no `SameSite` cookie (RFC 6265bis §5.7).
 */
export function refuseLoginCSRF(context: Context): void {
  if (isUnsafe(context.call.method)) context.requireSameSite();
}
