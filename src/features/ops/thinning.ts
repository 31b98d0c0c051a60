/** The largest number of lines of one kind per second. */
const MOST_A_SECOND = 10;

/**
 * Lets through a few lines of a kind per second, and then reports how many it dropped. So a caller who causes log lines cannot fill the
 * disk.
 */
export interface Thinning {
  /** Returns true if this line is let through. */
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
