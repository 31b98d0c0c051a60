/** An entity tag (RFC 9110 §8.8.3). */
export interface ETag {
  readonly weak: boolean;
  /** The tag with its quotes, as in a header field. */
  readonly quoted: string;
}

/** The value of `If-Match` or `If-None-Match`: any tag, or a list of tags. */
export type ETags = "*" | readonly ETag[];

/** Parses the value of `If-Match` or `If-None-Match`. Returns null if it is neither `*` nor a list of tags. */
export function parseETags(header: string): ETags | null {
  if (header.trim() === "*") return "*";
  const etags: ETag[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < header.length) {
    const found = ELEMENT.exec(header);
    if (found === null) return null;
    if (found[2] !== undefined) etags.push({ weak: found[1] !== undefined, quoted: found[2] });
  }
  return etags.length === 0 ? null : etags;
}

/** Returns true if both are strong and equal, byte for byte (RFC 9110 §8.8.3.2). */
export function sameStrong(one: ETag, strong: string): boolean {
  return !one.weak && one.quoted === strong;
}

/**
 * Returns true if `etags` contains one of the tags in `strong`, by strong comparison. `part` returns the part of a
 * listed tag to compare.
 */
export function listsStrong(etags: ETags, strong: readonly string[], part: (quoted: string) => string): boolean {
  if (etags === "*") return true;
  const tags = new Set(strong);
  return etags.some(({ weak, quoted }) => !weak && tags.has(part(quoted)));
}

/** Returns true if both are equal by weak comparison (RFC 9110 §8.8.3.2). */
export function sameWeak(one: ETag, strong: string): boolean {
  return one.quoted === strong;
}

// One element with its comma. Empty elements are allowed (RFC 9110 §5.6.1.2).
const ELEMENT = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;
