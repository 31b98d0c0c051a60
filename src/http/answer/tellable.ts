import { isThrown } from "../../checking/thrown.ts";
import { Problem, problem } from "../../problem/problem.ts";
import { StoreFull, StoreUnavailable } from "../../store/store.ts";

/** What the caller may learn of it: a problem as it is, anything else as a fault of ours. */
export function tellable(error: unknown): Problem {
  if (isThrown(error, Problem)) return error;
  // Room is made by people, and that takes a while.
  if (isThrown(error, StoreFull))
    return problem("insufficient_storage", { cause: error, headers: [["Retry-After", "30"]] });
  if (isThrown(error, StoreUnavailable))
    return problem("unavailable", { cause: error, headers: [["Retry-After", "1"]] });
  return problem("internal", { cause: error });
}
