/**
 * Returns the first text that sorts after all texts with the prefix, by code points. Returns null if no text sorts
 * after them.
 */
export function findTextAfterPrefix(prefix: string): string | null {
  for (let end = prefix.length; end > 0;) {
    const start = end - ((prefix.codePointAt(end - 2) ?? 0) > 0xffff ? 2 : 1);
    const last = prefix.codePointAt(start)!;
    // The code points from U+D800 to U+DFFF are surrogates and not characters.
    if (last !== 0x10ffff) return prefix.slice(0, start) + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
    end = start;
  }
  return null;
}
