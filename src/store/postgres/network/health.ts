import type { Observer } from "../../../observation.ts";
import { StoreOutdated, StoreUnavailable } from "../../store.ts";

/** Whether the server answers, as far as is known. */
export interface Health {
  isFailing(): boolean;
  /** The error, told to the operator where it is the first. */
  told(error: unknown): unknown;
  recovered(): void;
}

/** Tells the operator when it stops answering, and when it does again. */
export function makeHealth(observe: Observer): Health {
  let failing = false;
  return {
    isFailing: () => failing,
    told(error) {
      // Who may not write any more is answered all the same.
      if (error instanceof StoreUnavailable && !(error instanceof StoreOutdated) && !failing) {
        failing = true;
        observe({ kind: "notice", level: "error", message: "PostgreSQL does not answer", error });
      }
      return error;
    },
    recovered() {
      if (!failing) return;
      failing = false;
      observe({ kind: "notice", level: "info", message: "PostgreSQL answers again" });
    },
  };
}
