import { stringifySetCookie } from "cookie";

/**
 * A cookie that the server sets. Scripts cannot read it. It has no `Domain`, so the browser sends it only to this host.
 */
export interface CookieToSet {
  readonly name: string;
  readonly value: string;
  /** The browser sends the cookie for this path and for all paths below it. */
  readonly path: string;
  readonly secure: boolean;
  readonly sameSite: "lax" | "strict";
  /** Its lifetime, in seconds. Default: the browser deletes the cookie when the browser closes. */
  readonly maxAgeSeconds?: number;
}

/** Formats the value of a `Set-Cookie` header field (RFC 6265). */
export function formatSetCookie({ maxAgeSeconds, ...cookie }: CookieToSet): string {
  return stringifySetCookie(
    maxAgeSeconds === undefined ? { ...cookie, httpOnly: true } : { ...cookie, httpOnly: true, maxAge: maxAgeSeconds },
  );
}

/**
 * Formats the value of a `Set-Cookie` header field that deletes the cookie. The other members must be the same as when
 * the cookie was set.
 */
export function formatClearedCookie(cookie: Omit<CookieToSet, "value" | "maxAgeSeconds">): string {
  return formatSetCookie({ ...cookie, value: "", maxAgeSeconds: 0 });
}
