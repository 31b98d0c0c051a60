import { stringifySetCookie } from "cookie";

/** A cookie as the server sets it. No script reads it, and it has no `Domain`: it goes back to this host only. */
export interface CookieToSet {
  readonly name: string;
  readonly value: string;
  /** Where it is sent: `/`, or all that lies below. */
  readonly path: string;
  readonly secure: boolean;
  readonly sameSite: "lax" | "strict";
  /** How long it is kept; until the browser ends where it is left out. */
  readonly maxAgeSeconds?: number;
}

/** The value of a `Set-Cookie` header (RFC 6265). */
export function formatSetCookie({ maxAgeSeconds, ...cookie }: CookieToSet): string {
  return stringifySetCookie(
    maxAgeSeconds === undefined ? { ...cookie, httpOnly: true } : { ...cookie, httpOnly: true, maxAge: maxAgeSeconds },
  );
}

/** The value of a `Set-Cookie` header that takes the cookie away. Everything but the value has to be as it was set. */
export function formatClearedCookie(cookie: Omit<CookieToSet, "value" | "maxAgeSeconds">): string {
  return formatSetCookie({ ...cookie, value: "", maxAgeSeconds: 0 });
}
