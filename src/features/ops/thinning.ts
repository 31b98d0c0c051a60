/** The largest number of lines of one kind per second. */
const MOST_A_SECOND = 10;

/**
 * Limits the lines of each kind per second, and then reports how many lines it dropped. A caller who causes log lines
 * can therefore not fill the disk.
 */
export interface Thinning {
  /** Counts a line of this kind. Returns true if the line may be written. */
  takes(kind: string): boolean;
}

export function makeThinning(report: (kind: string, dropped: number) => void): Thinning {
  const seen = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;
  const begin = (): void => {
    timer = null;
    for (const [kind, count] of seen) if (count > MOST_A_SECOND) report(kind, count - MOST_A_SECOND);
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
