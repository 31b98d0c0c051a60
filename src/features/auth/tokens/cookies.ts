import type { Call } from "../../../core/call/call.ts";
import { formatSetCookie } from "../../../core/headers/set-cookie.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/exchange.ts";
import { isSecure, requireOneCookie, type Header } from "../cookies.ts";
import type { FreshAccess, TokenPair } from "./token-pairs.ts";

// Below the base path of the service.
const refreshPath = "/api/token/";

/** What the cookies of tokens are called. */
export interface CookieNames {
  readonly access: string;
  readonly refresh: string;
}

/** Tokens as cookies: the access token goes everywhere, the refresh token only where it is used; that stays where there is no other. */
export function tokenCookies(context: Context, names: CookieNames, pair: TokenPair | FreshAccess): readonly Header[] {
  const access = tokenCookie(context, accessCookie(names), pair.access, pair.accessSeconds);
  if (!("refresh" in pair)) return [access];
  const refreshSeconds = Math.max(0, Math.floor((pair.refreshExpiresAt - context.call.now) / 1000));
  return [access, tokenCookie(context, refreshCookie(names), pair.refresh, refreshSeconds)];
}

export function clearedTokenCookies(context: Context, names: CookieNames): readonly Header[] {
  return [accessCookie(names), refreshCookie(names)].map((kind) => tokenCookie(context, kind, "", 0));
}

/** The refresh token that came as a cookie; null where none did. */
export function requireRefreshCookie(call: Call, names: CookieNames): string | null {
  return requireOneCookie(call, nameOf(refreshCookie(names), call));
}

/** The refresh token that a browser brings to a login, which must go on whatever else it brings; null where it is not one. */
export function findRefreshCookie(call: Call, names: CookieNames): string | null {
  return call.cookie(nameOf(refreshCookie(names), call)) ?? null;
}

interface TokenCookie {
  readonly name: string;
  /** Over TLS the name begins with it, and browsers hold what it promises (RFC 6265bis §4.1.3). */
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
// `__Host-` would send it everywhere.
const refreshCookie = ({ refresh: name }: CookieNames): TokenCookie => ({
  name,
  prefix: "__Secure-",
  path: refreshPath,
  sameSite: "strict",
});

function nameOf({ name, prefix }: TokenCookie, { client }: Call): string {
  return client.encrypted ? prefix + name : name;
}

function tokenCookie(context: Context, kind: TokenCookie, value: string, maxAgeSeconds: number): Header {
  const { call } = context;
  const { sameSite } = kind;
  // `__Host-` asks for the root (RFC 6265bis §4.1.3.2).
  const path = kind.prefix === "__Host-" ? kind.path : context.at(kind.path);
  const name = nameOf(kind, call);
  requireKept(name, value);
  return ["Set-Cookie", formatSetCookie({ name, value, path, secure: isSecure(call), sameSite, maxAgeSeconds })];
}

/** Octets of name and value beyond which a browser drops a cookie and says nothing (RFC 6265bis §5.7). */
const MOST_BYTES = 4096;

/** Ends the request if a browser would drop the cookie: the next request would be 401. */
function requireKept(name: string, value: string): void {
  const bytes = Buffer.byteLength(name) + Buffer.byteLength(value);
  if (bytes <= MOST_BYTES) return;
  const detail = `The cookie ${name} would have ${bytes} octets, and browsers keep no more than ${MOST_BYTES}. Log in without cookie, or shorten the fields of the account that are in its tokens.`;
  throw problem("invalid", { issues: [{ pointer: "/cookie", code: "too_long", detail }] });
}
