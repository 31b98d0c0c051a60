import {
  formatClearedCookie,
  formatSetCookie,
  problem,
  type Call,
  type Context,
  type FreshAccess,
  type TokenPair,
} from "../index.ts";

type Header = readonly [name: string, value: string];

// Below the base path of the service.
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

/** Tokens as cookies: the access token goes everywhere, the refresh token only where it is used; that stays where there is no other. */
export function tokenCookies(context: Context, pair: TokenPair | FreshAccess): readonly Header[] {
  const access = tokenCookie(context, accessCookie, pair.access, pair.accessSeconds);
  if (!("refresh" in pair)) return [access];
  const refreshSeconds = Math.max(0, Math.floor((pair.refreshExpiresAt - context.call.now) / 1000));
  return [access, tokenCookie(context, refreshCookie, pair.refresh, refreshSeconds)];
}

export function clearedTokenCookies(context: Context): readonly Header[] {
  return [accessCookie, refreshCookie].map((kind) => tokenCookie(context, kind, "", 0));
}

/** Clears those of our cookies that were refused, by their names without a prefix. The refresh token stays: it may be as good as ever. */
export function clearedCookies(context: Context, names: readonly string[]): readonly Header[] {
  return names.flatMap((name) => {
    if (name === "session") return [clearedSessionCookie(context.call)];
    return name === accessCookie.name ? [tokenCookie(context, accessCookie, "", 0)] : [];
  });
}

/** The refresh token that came as a cookie; null where none did. */
export function requireRefreshCookie(call: Call): string | null {
  return requireOneCookie(call, nameOf(refreshCookie, call));
}

/** The refresh token that a browser brings to a login, which must go on whatever else it brings; null where it is not one. */
export function findRefreshCookie(call: Call): string | null {
  return call.cookie(nameOf(refreshCookie, call)) ?? null;
}

interface TokenCookie {
  readonly name: string;
  /** Over TLS the name begins with it, and browsers hold what it promises (RFC 6265bis §4.1.3). */
  readonly prefix: "__Host-" | "__Secure-";
  readonly path: string;
  readonly sameSite: "lax" | "strict";
}

const accessCookie: TokenCookie = { name: "access_token", prefix: "__Host-", path: "/", sameSite: "lax" };
// `__Host-` would send it everywhere.
const refreshCookie: TokenCookie = {
  name: "refresh_token",
  prefix: "__Secure-",
  path: refreshPath,
  sameSite: "strict",
};

function nameOf({ name, prefix }: TokenCookie, { client }: Call): string {
  return client.encrypted ? prefix + name : name;
}

function tokenCookie(context: Context, kind: TokenCookie, value: string, maxAgeSeconds: number): Header {
  const { call } = context;
  const { sameSite } = kind;
  // `__Host-` asks for the root (RFC 6265bis §4.1.3.2).
  const path = kind.prefix === "__Host-" ? kind.path : context.at(kind.path);
  const cookie = { name: nameOf(kind, call), value, path, secure: isSecure(call), sameSite, maxAgeSeconds };
  return ["Set-Cookie", formatSetCookie(cookie)];
}
