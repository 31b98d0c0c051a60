/** Draws from a seed, so that a failing test can be repeated. */
export interface Draw {
  below(most: number): number;
  pick<T>(from: readonly T[]): T;
}

/** Returns draws that depend on the seed alone. */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const below = (most: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % most;
  };
  return { below, pick: (from) => from[below(from.length)]! };
}
