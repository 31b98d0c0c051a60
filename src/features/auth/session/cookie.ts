import type { Call } from "../../../core/call/call.ts";
import { formatClearedCookie, formatSetCookie } from "../../../core/headers/set-cookie.ts";
import { isSecure, type Header } from "../requests/cookies.ts";

/**
 * Returns the name of the session cookie on this connection. The prefix binds the cookie to this host, and browsers
 * accept such a cookie over TLS only (RFC 6265bis §4.1.3.2).
 */
export function sessionCookieName({ client }: Call, name: string): string {
  return client.encrypted ? `__Host-${name}` : name;
}

/** Returns the header field that sets the cookie. `expiresAt` in milliseconds since the epoch. */
export function sessionCookie(call: Call, cookie: string, id: string, expiresAt: number): Header {
  const maxAgeSeconds = Math.max(0, Math.floor((expiresAt - call.now) / 1000));
  return [
    "Set-Cookie",
    formatSetCookie({
      name: sessionCookieName(call, cookie),
      value: id,
      path: "/",
      secure: isSecure(call),
      sameSite: "lax",
      maxAgeSeconds,
    }),
  ];
}

/** Returns the header field that deletes the cookie. */
export function clearedSessionCookie(call: Call, cookie: string): Header {
  return [
    "Set-Cookie",
    formatClearedCookie({ name: sessionCookieName(call, cookie), path: "/", secure: isSecure(call), sameSite: "lax" }),
  ];
}
