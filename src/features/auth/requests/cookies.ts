import type { Call } from "../../../core/call/call.ts";
import { isUnsafe } from "../../../core/call/cross-site.ts";
import { formatClearedCookie, formatSetCookie } from "../../../core/headers/set-cookie.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";

/** A header field of a response. */
export type Header = readonly [name: string, value: string];

/** True if a cookie must be sent over TLS only. False only if the caller is on this machine and does not use TLS. */
export function isSecure({ client }: Call): boolean {
  return client.encrypted || !client.loopback;
}

/**
 * Returns the value of a cookie. Returns null if the request has none. Ends the request if it has two different values.
 */
export function requireOneCookie(call: Call, name: string): string | null {
  const value = call.cookie(name);
  if (value === null) throw problem("duplicate_credentials");
  return value ?? null;
}

/**
 * Returns the name of a cookie of this host on this connection. The prefix binds the cookie to this host, and browsers
 * accept such a cookie over TLS only (RFC 6265bis §4.1.3.2).
 */
export function hostCookieName({ client }: Call, cookie: string): string {
  return client.encrypted ? `__Host-${cookie}` : cookie;
}

/** Returns the header field that sets a cookie of this host. `expiresAt` in milliseconds since the epoch. */
export function setHostCookie(call: Call, cookie: string, value: string, expiresAt: number): Header {
  const maxAgeSeconds = Math.max(0, Math.floor((expiresAt - call.now) / 1000));
  const name = hostCookieName(call, cookie);
  return [
    "Set-Cookie",
    formatSetCookie({ name, value, path: "/", secure: isSecure(call), sameSite: "lax", maxAgeSeconds }),
  ];
}

/** Returns the header field that deletes a cookie of this host. */
export function clearHostCookie(call: Call, cookie: string): Header {
  const name = hostCookieName(call, cookie);
  return ["Set-Cookie", formatClearedCookie({ name, path: "/", secure: isSecure(call), sameSite: "lax" })];
}

/**
 * Ends a request with 403 if a page of another site would log its visitor in as another user (login CSRF). A link that
 * the user follows may log in, for example a link in an e-mail. For other GET requests that another site
 * causes, for example for an image, browsers store no `SameSite` cookie (RFC 6265bis §5.7).
 */
export function refuseLoginCSRF(context: Context): void {
  if (isUnsafe(context.call.method)) context.requireSameSite();
}
