import type { Call } from "../../call/call.ts";
import { formatClearedCookie, formatSetCookie } from "../../headers/set-cookie.ts";
import { isSecure, type Header } from "../cookies.ts";

/** The name of the session cookie: the prefix binds it to this host, and browsers take it over TLS only (RFC 6265bis §4.1.3.2). */
export function sessionCookieName({ client }: Call): string {
  return client.encrypted ? "__Host-session" : "session";
}

/** Gives the cookie; `expiresAt` in milliseconds since the epoch. */
export function sessionCookie(call: Call, id: string, expiresAt: number): Header {
  const maxAgeSeconds = Math.max(0, Math.floor((expiresAt - call.now) / 1000));
  return [
    "Set-Cookie",
    formatSetCookie({
      name: sessionCookieName(call),
      value: id,
      path: "/",
      secure: isSecure(call),
      sameSite: "lax",
      maxAgeSeconds,
    }),
  ];
}

/** Takes it back. */
export function clearedSessionCookie(call: Call): Header {
  return [
    "Set-Cookie",
    formatClearedCookie({ name: sessionCookieName(call), path: "/", secure: isSecure(call), sameSite: "lax" }),
  ];
}
