/** The supported content codings, the preferred one first. */
export const codings = ["br", "gzip"] as const;
export type Coding = (typeof codings)[number];

/**
 * Returns the preferred coding of `Accept-Encoding` (RFC 9110 §12.5.3). Returns null for no coding. If qualities are
 * equal, prefers `br` to `gzip`, and a coding to no coding. Ignores parts that cannot be parsed. A client that refuses
 * every coding gets the body without a coding, because every client can read it.
 */
export function preferredCoding(header: string): Coding | null {
  const qualities = readQualities(header);
  const others = qualities.get("*");
  let most = qualities.get("identity") ?? 0;
  let preferred: Coding | null = null;
  for (const coding of codings) {
    const quality = qualities.get(coding) ?? (coding === "gzip" ? qualities.get("x-gzip") : undefined) ?? others ?? 0;
    if (quality === 0 || (preferred === null ? quality < most : quality <= most)) continue;
    preferred = coding;
    most = quality;
  }
  return preferred;
}

function readQualities(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.split(",")) {
    const semicolon = part.indexOf(";");
    const name = (semicolon === -1 ? part : part.slice(0, semicolon)).trim().toLowerCase();
    const quality = semicolon === -1 ? 1 : readQuality(part.slice(semicolon + 1).trim());
    if (name !== "" && quality !== null && !qualities.has(name)) qualities.set(name, quality);
  }
  return qualities;
}

/** Parses `q=0.8`. Returns null if it is not a weight (RFC 9110 §12.4.2). */
function readQuality(text: string): number | null {
  const equals = text.indexOf("=");
  const value = text.slice(equals + 1).trim();
  const isQuality = equals !== -1 && text.slice(0, equals).trim().toLowerCase() === "q";
  return isQuality && /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : null;
}
