const FIRST_MS = 100;
/**
 * The longest delay. A start takes half a second. So a worker serves at most 2 s after the cause of the failures is
 * fixed.
 */
const LONGEST_MS = 1500;

/** The delay before a worker is started again. */
export interface RestartDelay {
  /**
   * Records a failed start. Returns the delay before the next start, in milliseconds. It increases, because the next
   * start usually fails for the same reason.
   */
  failed(): number;
  /**
   * Records a successful start and resets the delay. So a client that can make workers crash cannot increase the delay.
   */
  served(): void;
}

export function makeRestartDelay(): RestartDelay {
  let failures = 0;
  return {
    failed: () => Math.min(LONGEST_MS, FIRST_MS * 2 ** failures++),
    served: () => void (failures = 0),
  };
}
