/** What the operator tells the process, from its first moment on. */
export interface Signals {
  /** From now on SIGTERM and SIGINT do this; until then there is nothing to finish, and they end the process. */
  stopWith(stop: () => void): void;
  /** What SIGTERM and SIGINT do. */
  stop(): void;
  /** From now on SIGHUP does this, also one that has come before. */
  hangUpWith(hangUp: () => void): void;
}

/** The first process of a container ends by no signal that it does not hear, and a reload right after the start is to end nobody. */
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
