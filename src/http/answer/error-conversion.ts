import { isThrown } from "../../core/checking/thrown.ts";
import { otherCopyMistake } from "../../core/copy.ts";
import { Problem, problem } from "../../core/problem/problem.ts";
import { MigrationNeeded, StoreFull, StoreSetupError, StoreUnavailable } from "../../store/store.ts";

/** The errors of a process that cannot use its database. They are not bugs, and a later request may succeed. */
const withoutStore = [StoreUnavailable, StoreSetupError, MigrationNeeded];

/** Returns the problem that the caller may see. An unexpected error becomes the problem `internal`. */
export function convertToProblem(error: unknown): Problem {
  if (isThrown(error, Problem)) return error;
  // An operator must free disk space first, so the client should wait longer.
  if (isThrown(error, StoreFull))
    return problem("insufficient_storage", { cause: error, headers: [["Retry-After", "30"]] });
  if (withoutStore.some((kind) => isThrown(error, kind)))
    return problem("unavailable", { cause: error, headers: [["Retry-After", "1"]] });
  return problem("internal", { cause: error });
}

/**
 * Returns a fault in the form for observers. If another copy of the package threw a problem, the message says so,
 * because this copy treats it as a fault.
 */
export function convertToFault(error: unknown): unknown {
  const other = otherCopyMistake(error);
  return other === null ? error : new TypeError(`The thrown value is a fault: ${other}.`, { cause: error });
}
