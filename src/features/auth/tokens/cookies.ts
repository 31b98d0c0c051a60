import type { Call } from "../../../core/call/call.ts";
import { formatSetCookie } from "../../../core/headers/set-cookie.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { isSecure, requireOneCookie, type Header } from "../requests/cookies.ts";
import type { FreshAccess, TokenPair } from "./token-pairs.ts";

// Relative to the base path of the service.
const refreshPath = "/api/token/";

/** The names of the token cookies. */
export interface CookieNames {
  readonly access: string;
  readonly refresh: string;
}

/**
 * Returns the cookies of a token pair. Browsers send the access token to all paths, and the refresh token only to the
 * endpoints that use it. Without a new refresh token, the browser keeps the cookie that it has.
 */
export function tokenCookies(context: Context, names: CookieNames, pair: TokenPair | FreshAccess): readonly Header[] {
  const access = tokenCookie(context, accessCookie(names), pair.access, pair.accessSeconds);
  if (!("refresh" in pair)) return [access];
  const refreshSeconds = Math.max(0, Math.floor((pair.refreshExpiresAt - context.call.now) / 1000));
  return [access, tokenCookie(context, refreshCookie(names), pair.refresh, refreshSeconds)];
}

export function clearedTokenCookies(context: Context, names: CookieNames): readonly Header[] {
  return [accessCookie(names), refreshCookie(names)].map((kind) => tokenCookie(context, kind, "", 0));
}

/** Returns the refresh token of the cookie, or null if there is none. Ends the request if the cookie is sent twice. */
export function requireRefreshCookie(call: Call, names: CookieNames): string | null {
  return requireOneCookie(call, formatCookieName(refreshCookie(names), call));
}

/**
 * Returns the refresh token that a browser sends with a login, or null if there is none. Never ends the request,
 * because a login must succeed with any cookie.
 */
export function findRefreshCookie(call: Call, names: CookieNames): string | null {
  return call.cookie(formatCookieName(refreshCookie(names), call)) ?? null;
}

interface TokenCookie {
  readonly name: string;
  /** The prefix of the name over TLS. Browsers enforce its meaning (RFC 6265bis §4.1.3). */
  readonly prefix: "__Host-" | "__Secure-";
  readonly path: string;
  readonly sameSite: "lax" | "strict";
}

const accessCookie = ({ access: name }: CookieNames): TokenCookie => ({
  name,
  prefix: "__Host-",
  path: "/",
  sameSite: "lax",
});
// Not `__Host-`, because browsers send such a cookie to all paths.
const refreshCookie = ({ refresh: name }: CookieNames): TokenCookie => ({
  name,
  prefix: "__Secure-",
  path: refreshPath,
  sameSite: "strict",
});

function formatCookieName({ name, prefix }: TokenCookie, { client }: Call): string {
  return client.encrypted ? prefix + name : name;
}

function tokenCookie(context: Context, kind: TokenCookie, value: string, maxAgeSeconds: number): Header {
  const { call } = context;
  const { sameSite } = kind;
  // `__Host-` requires the root path (RFC 6265bis §4.1.3.2).
  const path = kind.prefix === "__Host-" ? kind.path : context.at(kind.path);
  const name = formatCookieName(kind, call);
  requireStorableCookie(name, value);
  return ["Set-Cookie", formatSetCookie({ name, value, path, secure: isSecure(call), sameSite, maxAgeSeconds })];
}

/** The size of name and value, in octets, above which a browser silently drops a cookie (RFC 6265bis §5.7). */
const MAX_COOKIE_BYTES = 4096;

/**
 * Ends the request if a browser would drop the cookie. Otherwise, the login would succeed and the next request would
 * get 401.
 */
function requireStorableCookie(name: string, value: string): void {
  const bytes = Buffer.byteLength(name) + Buffer.byteLength(value);
  if (bytes <= MAX_COOKIE_BYTES) return;
  const detail = `The cookie ${name} would have ${bytes} octets, and browsers keep no more than ${MAX_COOKIE_BYTES}. Log in without cookie, or shorten the fields of the account that are in its tokens.`;
  throw problem("invalid", { issues: [{ pointer: "/cookie", code: "too_long", detail }] });
}
