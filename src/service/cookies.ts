import { formatClearedCookie, formatSetCookie, problem, type Call, type TokenPair } from "../index.ts";

type Header = readonly [name: string, value: string];

const refreshPath = "/api/token/";

/** Left out only where the caller is on this machine and there is no TLS to send it over. */
function isSecure({ client }: Call): boolean {
  return client.encrypted || !client.loopback;
}

/** The name of the session cookie: the prefix binds it to this host, and browsers take it over TLS only (RFC 6265bis §4.1.3.2). */
export function sessionCookieName({ client }: Call): string {
  return client.encrypted ? "__Host-session" : "session";
}

/** The value of a cookie; null where there is none. Two different ones end the request. */
export function requireOneCookie(call: Call, name: string): string | null {
  const value = call.cookie(name);
  if (value === null) throw problem("duplicate_credentials");
  return value ?? null;
}

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

export function clearedSessionCookie(call: Call): Header {
  return [
    "Set-Cookie",
    formatClearedCookie({ name: sessionCookieName(call), path: "/", secure: isSecure(call), sameSite: "lax" }),
  ];
}

/** The pair as cookies: the access token goes everywhere, the refresh token only where it is used. */
export function tokenCookies(call: Call, pair: TokenPair): readonly Header[] {
  const secure = isSecure(call);
  const refreshSeconds = Math.max(0, Math.floor((pair.refreshExpiresAt - call.now) / 1000));
  return [
    [
      "Set-Cookie",
      formatSetCookie({
        name: "access_token",
        value: pair.access,
        path: "/",
        secure,
        sameSite: "lax",
        maxAgeSeconds: pair.accessSeconds,
      }),
    ],
    [
      "Set-Cookie",
      formatSetCookie({
        name: "refresh_token",
        value: pair.refresh,
        path: refreshPath,
        secure,
        sameSite: "strict",
        maxAgeSeconds: refreshSeconds,
      }),
    ],
  ];
}

export function clearedTokenCookies(call: Call): readonly Header[] {
  const secure = isSecure(call);
  return [
    ["Set-Cookie", formatClearedCookie({ name: "access_token", path: "/", secure, sameSite: "lax" })],
    ["Set-Cookie", formatClearedCookie({ name: "refresh_token", path: refreshPath, secure, sameSite: "strict" })],
  ];
}
