import type { Observer } from "../../../core/observation.ts";
import { StoreOutdated, StoreUnavailable } from "../../store.ts";

/** Where it answers some and refuses others, as a server that has turned read-only, it would be told with each of them; in milliseconds. */
const QUIET_MS = 10_000;

/** Whether the server answers, as far as is known. */
export interface Health {
  isFailing(): boolean;
  /** The error, told to the operator where it is the first. */
  told(error: unknown): unknown;
  recovered(): void;
}

/** Tells the operator when it stops answering, and when it does again. `now` in milliseconds, from whenever. */
export function makeHealth(observe: Observer, now: () => number = () => performance.now()): Health {
  let failing = false;
  let isTold = false;
  let toldAt = -Infinity;
  return {
    isFailing: () => failing,
    told(error) {
      // Who may not write any more is answered all the same.
      if (!(error instanceof StoreUnavailable) || error instanceof StoreOutdated) return error;
      if (!failing) isTold = false;
      failing = true;
      if (isTold || now() - toldAt < QUIET_MS) return error;
      isTold = true;
      toldAt = now();
      observe({ kind: "notice", level: "error", message: "PostgreSQL does not answer", error });
      return error;
    },
    recovered() {
      if (failing && isTold) observe({ kind: "notice", level: "info", message: "PostgreSQL answers again" });
      failing = false;
    },
  };
}
