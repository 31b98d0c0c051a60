import type { Observer } from "../observation.ts";

/** Prints what went wrong on standard error, with its stack: what a service does where nobody said who observes it. */
export const printFaults: Observer = (observation) => {
  if (observation.kind === "fault")
    print(`A request ended with 500 (request id ${observation.requestId}).`, observation.error);
  else if (observation.kind === "notice" && observation.level === "error")
    print(observation.message, observation.error);
};

function print(message: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`Latchkey: ${message}${error === undefined ? "" : `\n${text}`}\n`);
}
