import { isText, seen, shown } from "../checking/members.ts";

/** Refused schemes. They have no pages, or browsers send `null` as the origin of their pages. */
const WITHOUT_PAGES = new Set(["about", "blob", "data", "file", "ftp", "javascript", "ws", "wss"]);

/**
 * Parses an origin and returns it as browsers write it in `Origin` (RFC 6454 §6.2): `https://app.example`, or the
 * origin of an app or an extension, such as `capacitor://localhost`. Removes the path of a web address. Returns null
 * for a pattern, for the address of an app with a path, and for an origin that no page can have.
 */
export function parseOrigin(text: string): string | null {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || WITHOUT_PAGES.has(scheme)) return null;
  return scheme === "http" || scheme === "https" ? webOrigin(text) : otherOrigin(scheme, text);
}

/** Returns a web origin. The URL standard allows a `*` in a host, which is refused here. */
function webOrigin(text: string): string | null {
  const origin = /[\s\\]/.test(text) ? null : (URL.parse(text)?.origin ?? null);
  return origin === null || origin.includes("*") ? null : origin;
}

/**
 * Returns the origin of another scheme. Browsers keep its host unchanged: the ids of some extensions have upper-case
 * letters.
 */
function otherOrigin(scheme: string, text: string): string | null {
  const [, host, port] = /^[^:]+:\/\/([\w.~-]{1,253})(?::([1-9]\d{0,4}))?\/?$/.exec(text) ?? [];
  if (host === undefined || Number(port ?? 1) > 65_535) return null;
  return `${scheme}://${host}${port === undefined ? "" : `:${port}`}`;
}

/** Checks origins in the spelling of browsers, because they are compared letter by letter. */
export const origins = seen((value) => {
  const wrong = Array.isArray(value) ? value.filter((each) => !(isText(each) && parseOrigin(each) === each)) : null;
  if (wrong?.length === 0) return null;
  const cure =
    'it has to be a list of origins without a path or a slash at the end, like ["https://app.example", "capacitor://localhost"]';
  return wrong === null ? cure : `it contains ${wrong.map(shown).join(", ")}; ${cure}`;
});
