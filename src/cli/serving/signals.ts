/** The reactions to signals of the operator. The process reacts to them from its start. */
export interface Signals {
  /**
   * Sets the reaction to SIGTERM and SIGINT. Before this call, they exit the process, because there is no work to
   * finish.
   */
  stopWith(stop: () => void): void;
  /** Reacts as to SIGTERM. */
  stop(): void;
  /** Sets the reaction to SIGHUP. It also runs for a signal that arrived earlier. */
  hangUpWith(hangUp: () => void): void;
}

/**
 * Listens for the signals. Without a listener, SIGTERM does not stop the first process of a container, and a SIGHUP
 * right after the start would stop the process.
 */
export function hearSignals(): Signals {
  let stop = (): void => process.exit();
  let hungUp = false;
  let hangUp = (): void => void (hungUp = true);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop());
  process.on("SIGHUP", () => hangUp());
  return {
    stopWith: (act) => void (stop = act),
    stop: () => stop(),
    hangUpWith(act) {
      hangUp = act;
      if (hungUp) act();
    },
  };
}
