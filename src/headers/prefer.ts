/**
 * Reads `Prefer` (RFC 7240 §2): the value of each preference by its name in lower case, empty where it has none. The first of two
 * counts. What cannot be read is passed over, as a preference that nobody knows.
 */
export function parsePrefer(header: string): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  for (const part of splitList(header)) {
    const found = PREFERENCE.exec(part);
    if (found === null) continue;
    const name = found[1]!.toLowerCase();
    if (!preferences.has(name)) preferences.set(name, found[2]?.replace(/\\(.)/g, "$1") ?? found[3] ?? "");
  }
  return preferences;
}

// Parameters behind a semicolon are read by nobody here.
const PREFERENCE =
  /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]*))[ \t]*)?(?:;|$)/;

/** Splits at commas that stand outside of quotes. */
function splitList(header: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let inQuotes = false;
  for (let at = 0; at < header.length; at += 1) {
    const character = header[at];
    if (inQuotes && character === "\\") at += 1;
    else if (character === '"') inQuotes = !inQuotes;
    else if (character === "," && !inQuotes) {
      parts.push(header.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(header.slice(start));
  return parts;
}
