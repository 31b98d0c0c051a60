import { isTokenValid } from "content-type";
import { splitOutsideQuotes, trimOWS } from "./list.ts";

/**
 * Parses `Prefer` (RFC 7240 §2): the value of each preference by its name in lower case, empty if it has none. If a
 * preference is given twice, the first one counts. Ignores parts that cannot be parsed.
 */
export function parsePrefer(header: string): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  for (const part of splitOutsideQuotes(header, ",")) {
    // Parameters after a semicolon are ignored.
    const [preference = ""] = splitOutsideQuotes(part, ";");
    const equals = preference.indexOf("=");
    const name = trimOWS(equals === -1 ? preference : preference.slice(0, equals)).toLowerCase();
    const value = equals === -1 ? "" : readWord(trimOWS(preference.slice(equals + 1)));
    if (value !== null && isTokenValid(name) && !preferences.has(name)) preferences.set(name, value);
  }
  return preferences;
}

const QUOTED = /^"((?:[^"\\]|\\.)*)"$/;

/** Parses a token, a quoted string or nothing. Returns null for any other text. */
function readWord(text: string): string | null {
  if (text === "" || isTokenValid(text)) return text;
  return QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, "$1") ?? null;
}
