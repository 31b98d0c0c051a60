const UNWRITABLE = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const EVERY_UNWRITABLE = new RegExp(UNWRITABLE.source, "gu");

/**
 * Returns true if a text has a character that XML 1.0 has no way to write (§2.2). Texts of other programs may have one.
 */
export function hasUnwritable(text: string): boolean {
  return UNWRITABLE.test(text);
}

/** Returns a text with U+FFFD in place of each character that XML cannot write. */
export function writableInXML(text: string): string {
  return text.replace(EVERY_UNWRITABLE, "\uFFFD");
}
