/**
 * Returns the first text that sorts after all texts with the prefix, by code points. Returns null if no text sorts
 * after them.
 */
export function findTextAfterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // The code points from U+D800 to U+DFFF are surrogates and not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
