const FIRST_MS = 100;
/** The longest delay. With the half second of a start, a place is never empty for more than 2 s after the cause of the failure is fixed. */
const LONGEST_MS = 1500;

/** The delay before a worker is started again. */
export interface RestartDelay {
  /** Records a failed start. Returns the delay in milliseconds. It increases, because the cause of the failure usually remains. */
  failed(): number;
  /** Records a successful start. A later crash has another cause, so no caller can extend the delay. */
  served(): void;
}

export function makeRestartDelay(): RestartDelay {
  let failures = 0;
  return {
    failed: () => Math.min(LONGEST_MS, FIRST_MS * 2 ** failures++),
    served: () => void (failures = 0),
  };
}
