import { stackOfThrown } from "../../../core/checking/thrown.ts";
import type { Observer } from "../../../core/observation.ts";
import { writeError } from "../../../core/standard-error.ts";

/**
 * Returns an observer that prints faults and errors to standard error, with their stack. The default of a service
 * without an observer.
 */
export const printFaults =
  (name: string): Observer =>
  (observation) => {
    const print = (message: string, error: unknown): void => printAs(name, message, error);
    if (observation.kind === "fault")
      print(`A request caused a fault (request id ${observation.requestId}).`, observation.error);
    else if (observation.kind === "notice" && (observation.level === "error" || observation.error !== undefined))
      print(observation.message, observation.error);
  };

function printAs(name: string, message: string, error: unknown): void {
  writeError(`${name}: ${message}${error === undefined ? "" : `\n${stackOfThrown(error)}`}\n`);
}
