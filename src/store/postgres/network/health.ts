import type { Observer } from "../../../core/observation.ts";
import { StoreOutdated, StoreUnavailable } from "../../store.ts";

/**
 * The shortest time between two log entries, in milliseconds. A server that has become read-only answers reads and
 * refuses writes, and each refusal would be logged.
 */
const QUIET_MS = 10_000;

/** The state of the server, as far as is known. */
export interface Health {
  isFailing(): boolean;
  /** Logs once that the server fails, until `recovered` is called. Returns the error. */
  report(error: unknown): unknown;
  recovered(): void;
}

/**
 * Logs when the server stops answering, and when it answers again. `now` is in milliseconds, from any starting point.
 */
export function makeHealth(observe: Observer, now: () => number = () => performance.now()): Health {
  let failing = false;
  let isReported = false;
  let reportedAt = -Infinity;
  return {
    isFailing: () => failing,
    report(error) {
      // If the table was changed for a newer declaration, the server still answers this process.
      if (!(error instanceof StoreUnavailable) || error instanceof StoreOutdated) return error;
      if (!failing) isReported = false;
      failing = true;
      if (isReported || now() - reportedAt < QUIET_MS) return error;
      isReported = true;
      reportedAt = now();
      observe({ kind: "notice", level: "error", message: "PostgreSQL does not answer", error });
      return error;
    },
    recovered() {
      if (failing && isReported) observe({ kind: "notice", level: "info", message: "PostgreSQL answers again" });
      failing = false;
    },
  };
}
