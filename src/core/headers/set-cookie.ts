import { stringifySetCookie } from "cookie";

/** A cookie of the server. Scripts cannot read it, and it has no `Domain`: the browser sends it only to this host. */
export interface CookieToSet {
  readonly name: string;
  readonly value: string;
  /** The path for which it is sent: `/`, or a path with everything below it. */
  readonly path: string;
  readonly secure: boolean;
  readonly sameSite: "lax" | "strict";
  /** Its lifetime, in seconds. Default: until the browser closes. */
  readonly maxAgeSeconds?: number;
}

/** Formats the value of a `Set-Cookie` header field (RFC 6265). */
export function formatSetCookie({ maxAgeSeconds, ...cookie }: CookieToSet): string {
  return stringifySetCookie(
    maxAgeSeconds === undefined ? { ...cookie, httpOnly: true } : { ...cookie, httpOnly: true, maxAge: maxAgeSeconds },
  );
}

/**
 * Formats the value of a `Set-Cookie` header field that deletes the cookie. Everything except the value must be the same as when it was
 * set.
 */
export function formatClearedCookie(cookie: Omit<CookieToSet, "value" | "maxAgeSeconds">): string {
  return formatSetCookie({ ...cookie, value: "", maxAgeSeconds: 0 });
}
