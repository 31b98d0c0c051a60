/**
 * Returns the first text after all that start with the prefix, in the order of code points. Returns null if there is
 * none.
 */
export function behindPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // The range from U+D800 to U+DFFF has the surrogates, which are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
