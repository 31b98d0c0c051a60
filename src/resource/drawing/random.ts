import type { Random } from "../declaration/field.ts";

/**
 * Returns random values from a seed text: mulberry32 over its FNV-1a digest. Only for tests, because the values are
 * predictable.
 */
export function createRandom(seed: string): Random {
  let state = digest(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return { next, whole, pick: (from) => from[whole(0, from.length - 1)]! };
}

function digest(text: string): number {
  let hash = 0x811c9dc5;
  for (const unit of text) hash = Math.imul(hash ^ unit.codePointAt(0)!, 0x01000193);
  return hash >>> 0;
}
