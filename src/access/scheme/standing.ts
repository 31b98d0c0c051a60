import type { Call } from "../../core/call/call.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import type { Scheme, Standing, Verdict } from "./scheme.ts";

/** Returns the verdict if its credential is enough for its account, with the identity that `standing` returns. Otherwise returns the rejection. */
export function judgeStanding(scheme: Scheme, verdict: Verdict, call: Call, standing: Standing): Eventually<Verdict> {
  if (verdict.kind !== "accepted") return verdict;
  return after(standing(scheme, verdict.identity, call), (judged): Verdict => {
    if ("kind" in judged) return judged;
    // A frozen verdict from a cache was already checked.
    return judged === verdict.identity ? verdict : { kind: "accepted", identity: judged };
  });
}
