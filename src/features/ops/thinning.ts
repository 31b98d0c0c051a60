/** How many lines of one kind a second are worth reading. */
const MOST_A_SECOND = 10;

/** Lets through a few of a kind in a second, and then tells how many it kept back: whoever can cause lines must not fill the disk with them. */
export interface Thinning {
  /** Whether this one is let through. */
  takes(kind: string): boolean;
}

export function makeThinning(tell: (kind: string, keptBack: number) => void): Thinning {
  const seen = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  const begin = (): void => {
    timer = null;
    for (const [kind, count] of seen) if (count > MOST_A_SECOND) tell(kind, count - MOST_A_SECOND);
    seen.clear();
  };
  return {
    takes(kind) {
      const count = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, count);
      timer ??= setTimeout(begin, 1000).unref();
      return count <= MOST_A_SECOND;
    },
  };
}
