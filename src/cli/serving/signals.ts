/** The signals of the operator, from the first moment of the process. */
export interface Signals {
  /** Sets the reaction to SIGTERM and SIGINT. Before that, nothing must be finished, and they stop the process. */
  stopWith(stop: () => void): void;
  /** The reaction to SIGTERM and SIGINT. */
  stop(): void;
  /** Sets the reaction to SIGHUP. It also runs for a signal that arrived earlier. */
  hangUpWith(hangUp: () => void): void;
}

/**
 * Listens to the signals. The first process of a container is not stopped by a signal without a listener, and a reload right after the
 * start must not stop any process.
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
