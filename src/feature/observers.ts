import { stackOfThrown } from "../core/checking/thrown.ts";
import type { Observation, Observer } from "../core/observation.ts";
import { writeError } from "../core/standard-error.ts";

/**
 * The same observer, whose failures are its own: what it hears has happened, and changes for nobody because it fails. They are printed on
 * standard error under the name of the `service`, the first of them with its stack, for it fails with every request.
 */
export function harmless(observe: Observer, service: string): Observer {
  let failed = false;
  const print = (error: unknown): void => {
    if (failed) return;
    failed = true;
    writeError(`${service}: An observer failed; it is not told again where it fails.\n${stackOfThrown(error)}\n`);
  };
  return (observation) => {
    try {
      const told: unknown = observe(observation);
      if (told instanceof Promise) told.catch(print);
    } catch (error) {
      print(error);
    }
  };
}

/** One function for all who hear; null where nobody does, so that nothing is measured for nobody. */
export function observerOf(observers: readonly Observer[]): Observer | null {
  if (observers.length < 2) return observers[0] ?? null;
  return (observation) => tellAll(observers, observation);
}

/** Tells why something failed, and that once until it is well: a database that is away for an hour is away every second of it. */
export function toldOnce(tell: (error: unknown) => void): { well(): void; failed(error: unknown): void } {
  let told = "";
  return {
    well: () => void (told = ""),
    failed(error) {
      const reason = String(error);
      if (told !== reason) tell(error);
      told = reason;
    },
  };
}

export function tellAll(observers: readonly Observer[], observation: Observation): void {
  for (const observe of observers) observe(observation);
}
