import { Witness } from "../../access/scheme/explanation.ts";
import { nobody, type IdentifiedCaller } from "../../access/scheme/scheme-set.ts";
import type { Eventually } from "../../core/eventually.ts";
import { Problem } from "../../core/problem/problem.ts";
import type { Exchange } from "../request/exchange.ts";

/** Identifies the caller, and reports a rejected credential to the handler instead of ending the request. */
export function identifyTolerantly(exchange: Exchange, existing: Witness | null): Eventually<IdentifiedCaller> {
  const { service, call } = exchange;
  const witness = existing ?? new Witness();
  const report = (error: unknown): IdentifiedCaller => {
    if (!(error instanceof Problem)) throw error;
    exchange.refusal = { problem: error, cookies: refusedCookies(witness) };
    return nobody;
  };
  const reportCookies = (identified: IdentifiedCaller): IdentifiedCaller => {
    const { passedOver } = identified;
    if (passedOver.length > 0)
      exchange.refusal = { problem: service.schemeSet.challenge(call, passedOver), cookies: refusedCookies(witness) };
    return identified;
  };
  try {
    const identified = service.schemeSet.identify(call, witness);
    return identified instanceof Promise ? identified.then(reportCookies, report) : reportCookies(identified);
  } catch (error) {
    return report(error);
  }
}

function refusedCookies({ presented, verdicts }: Witness): readonly string[] {
  return presented.flatMap(({ carrier }, at) =>
    carrier.in === "cookie" && verdicts[at]?.kind === "rejected" ? [carrier.name] : [],
  );
}
