import { stackOfThrown } from "../core/checking/thrown.ts";
import type { Observation, Observer } from "../core/observation.ts";
import { writeError } from "../core/standard-error.ts";

/**
 * Returns an observer that never throws, so that it cannot affect a request or another observer. The first failure of
 * `observe` is printed to standard error, with the name of the `service` and the stack. Further failures are not
 * printed, because every request may cause one.
 */
export function guardObserver(observe: Observer, service: string): Observer {
  let failed = false;
  const print = (error: unknown): void => {
    if (failed) return;
    failed = true;
    writeError(`${service}: An observer failed. Its further failures are not logged.\n${stackOfThrown(error)}\n`);
  };
  return (observation) => {
    try {
      const result: unknown = observe(observation);
      if (result instanceof Promise) result.catch(print);
    } catch (error) {
      print(error);
    }
  };
}

/** Combines all observers into one function. Returns null if there are none. The service then measures nothing. */
export function combineObservers(observers: readonly Observer[]): Observer | null {
  if (observers.length < 2) return observers[0] ?? null;
  return (observation) => notifyAll(observers, observation);
}

/**
 * Reports a failure only once, until `well` is called or the reason changes. Otherwise, a database that is unavailable
 * for an hour would be reported every second.
 */
export function makeFailureReporter(report: (error: unknown) => void): { well(): void; failed(error: unknown): void } {
  let lastReason = "";
  return {
    well: () => void (lastReason = ""),
    failed(error) {
      const reason = String(error);
      if (lastReason !== reason) report(error);
      lastReason = reason;
    },
  };
}

export function notifyAll(observers: readonly Observer[], observation: Observation): void {
  for (const observe of observers) observe(observation);
}
