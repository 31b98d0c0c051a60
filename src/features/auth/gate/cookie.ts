import type { Call } from "../../../core/call/call.ts";
import { formatClearedCookie, formatSetCookie } from "../../../core/headers/set-cookie.ts";
import { isSecure, requireOneCookie, type Header } from "../requests/cookies.ts";

/** Returns the name of the cookie of a waiting login on this connection. */
function cookieName({ client }: Call, cookie: string): string {
  return client.encrypted ? `__Host-${cookie}` : cookie;
}

/**
 * Returns the waiting login that a cookie names. Returns null if the request has no such cookie. Ends the request if it
 * has two different values.
 */
export function findPendingCookie(call: Call, cookie: string): string | null {
  return requireOneCookie(call, cookieName(call, cookie));
}

/** Returns the cookie of a waiting login. `expiresAt` in milliseconds since the epoch. */
export function pendingCookie(call: Call, cookie: string, value: string, expiresAt: number): Header {
  const maxAgeSeconds = Math.max(0, Math.floor((expiresAt - call.now) / 1000));
  const name = cookieName(call, cookie);
  return [
    "Set-Cookie",
    formatSetCookie({ name, value, path: "/", secure: isSecure(call), sameSite: "lax", maxAgeSeconds }),
  ];
}

/** Returns the header field that deletes the cookie of a waiting login. */
export function clearedPendingCookie(call: Call, cookie: string): Header {
  return [
    "Set-Cookie",
    formatClearedCookie({ name: cookieName(call, cookie), path: "/", secure: isSecure(call), sameSite: "lax" }),
  ];
}
