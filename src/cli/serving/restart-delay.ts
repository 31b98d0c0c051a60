const FIRST_MS = 100;
/** With the half second that a start takes, a place is never empty for more than 2 s once what kept it from being filled is over. */
const LONGEST_MS = 1500;

/** How long to wait before a worker is started again. */
export interface RestartDelay {
  /** One could not start. Gives the delay in milliseconds: longer and longer, for what keeps it from starting stays as it is. */
  failed(): number;
  /** One serves. Whatever it dies of later, it is not its start, so that no caller can stretch the delay. */
  served(): void;
}

export function makeRestartDelay(): RestartDelay {
  let failures = 0;
  return {
    failed: () => Math.min(LONGEST_MS, FIRST_MS * 2 ** failures++),
    served: () => void (failures = 0),
  };
}
