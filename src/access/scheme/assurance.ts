import type { Call } from "../../core/call/call.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import type { Scheme, AssuranceCheck, Verdict } from "./scheme.ts";

/**
 * Asks `standing` about an accepted identity. Returns the verdict with the identity that `standing` returns, or its
 * rejection.
 */
export function checkAssurance(
  scheme: Scheme,
  verdict: Verdict,
  call: Call,
  standing: AssuranceCheck,
): Eventually<Verdict> {
  if (verdict.kind !== "accepted") return verdict;
  return after(standing(scheme, verdict.identity, call), (judged): Verdict => {
    if ("kind" in judged) return judged;
    // Returns the same object if nothing changed, because `requireVerdict` checks a frozen verdict only once.
    return judged === verdict.identity ? verdict : { kind: "accepted", identity: judged };
  });
}
