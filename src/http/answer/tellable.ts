import { isThrown } from "../../core/checking/thrown.ts";
import { otherCopyMistake } from "../../core/copy.ts";
import { Problem, problem } from "../../core/problem/problem.ts";
import { MigrationNeeded, StoreFull, StoreSetupError, StoreUnavailable } from "../../store/store.ts";

/** This process cannot use the database. This is not a bug, and it may pass. */
const withoutStore = [StoreUnavailable, StoreSetupError, MigrationNeeded];

/** Returns the problem that the caller may see. Any error that is not a problem becomes an internal one. */
export function tellable(error: unknown): Problem {
  if (isThrown(error, Problem)) return error;
  // An operator has to make room, which takes a while.
  if (isThrown(error, StoreFull))
    return problem("insufficient_storage", { cause: error, headers: [["Retry-After", "30"]] });
  if (withoutStore.some((kind) => isThrown(error, kind)))
    return problem("unavailable", { cause: error, headers: [["Retry-After", "1"]] });
  return problem("internal", { cause: error });
}

/**
 * Returns a fault in the form for observers. If another copy of the package threw a problem, the message says so, because this copy treats
 * it as a fault.
 */
export function toldFault(error: unknown): unknown {
  const other = otherCopyMistake(error);
  return other === null ? error : new TypeError(`What was thrown is a fault: ${other}.`, { cause: error });
}
