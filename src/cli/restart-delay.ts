/** Who has served this long has not died of its start. */
const SETTLED_MS = 10_000;

const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/** Tells how long to wait before one that died is replaced, in milliseconds: not at all, and longer and longer where they die at once. */
export function makeRestartDelay(): (servedMs: number) => number {
  let quickDeaths = 0;
  return (servedMs) => {
    quickDeaths = servedMs < SETTLED_MS ? quickDeaths + 1 : 0;
    return quickDeaths <= 1 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (quickDeaths - 2));
  };
}
