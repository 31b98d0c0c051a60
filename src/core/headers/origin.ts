import { isText, seen, shown } from "../checking/members.ts";

/** Schemes of which no page has an origin that a browser sends: each is `null`, or has no pages. */
const WITHOUT_PAGES = new Set(["about", "blob", "data", "file", "ftp", "javascript", "ws", "wss"]);

/**
 * Reads an origin and returns it as browsers write it in `Origin` (RFC 6454 §6.2): `https://app.example`, and those of apps and extensions,
 * such as `capacitor://localhost`. Returns null if it has a path, is a pattern, or no page can have it.
 */
export function parseOrigin(text: string): string | null {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || WITHOUT_PAGES.has(scheme)) return null;
  return scheme === "http" || scheme === "https" ? webOrigin(text) : otherOrigin(scheme, text);
}

/** A host may have a `*` for the URL standard. */
function webOrigin(text: string): string | null {
  const origin = /[\s\\]/.test(text) ? null : (URL.parse(text)?.origin ?? null);
  return origin === null || origin.includes("*") ? null : origin;
}

/** Browsers take the host of any other scheme as it is: the ids of some extensions are in upper case. */
function otherOrigin(scheme: string, text: string): string | null {
  const [, host, port] = /^[^:]+:\/\/([\w.~-]{1,253})(?::([1-9]\d{0,4}))?\/?$/.exec(text) ?? [];
  if (host === undefined || Number(port ?? 1) > 65_535) return null;
  return `${scheme}://${host}${port === undefined ? "" : `:${port}`}`;
}

/** As browsers write them, with which they are compared letter by letter. */
export const origins = seen((value) => {
  const wrong = Array.isArray(value) ? value.filter((each) => !(isText(each) && parseOrigin(each) === each)) : null;
  if (wrong?.length === 0) return null;
  const cure =
    'it has to be a list of origins without a path or a slash at the end, like ["https://app.example", "capacitor://localhost"]';
  return wrong === null ? cure : `${wrong.map(shown).join(", ")} stands there; ${cure}`;
});
