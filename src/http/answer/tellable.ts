import { isThrown } from "../../core/checking/thrown.ts";
import { otherCopyMistake } from "../../core/copy.ts";
import { Problem, problem } from "../../core/problem/problem.ts";
import { MigrationNeeded, StoreFull, StoreSetupError, StoreUnavailable } from "../../store/store.ts";

/** The database is not to be had as this process needs it: no bug of ours, and it may be again. */
const withoutStore = [StoreUnavailable, StoreSetupError, MigrationNeeded];

/** What the caller may learn of it: a problem as it is, anything else as a fault of ours. */
export function tellable(error: unknown): Problem {
  if (isThrown(error, Problem)) return error;
  // Room is made by people, and that takes a while.
  if (isThrown(error, StoreFull))
    return problem("insufficient_storage", { cause: error, headers: [["Retry-After", "30"]] });
  if (withoutStore.some((kind) => isThrown(error, kind)))
    return problem("unavailable", { cause: error, headers: [["Retry-After", "1"]] });
  return problem("internal", { cause: error });
}

/** A fault as observers get it. If another copy of the package made what was thrown, the fault says so: its problem is none here. */
export function toldFault(error: unknown): unknown {
  const other = otherCopyMistake(error);
  return other === null ? error : new TypeError(`What was thrown is a fault: ${other}.`, { cause: error });
}
