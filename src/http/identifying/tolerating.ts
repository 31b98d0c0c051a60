import { nobody, type Identified } from "../../access/scheme/chain.ts";
import { Witness } from "../../access/scheme/explanation.ts";
import type { Eventually } from "../../core/eventually.ts";
import { Problem } from "../../core/problem/problem.ts";
import type { Exchange } from "../exchange.ts";

/** Looks at the credentials of a call as ever, and takes whoever came with a wrong one for nobody. */
export function identifyOrTell(exchange: Exchange, asked: Witness | null): Eventually<Identified> {
  const { service, call } = exchange;
  const witness = asked ?? new Witness();
  const tell = (error: unknown): Identified => {
    if (!(error instanceof Problem)) throw error;
    exchange.refusal = { problem: error, cookies: refusedCookies(witness) };
    return nobody;
  };
  try {
    const identified = service.chain.identify(call, witness);
    return identified instanceof Promise ? identified.catch(tell) : identified;
  } catch (error) {
    return tell(error);
  }
}

function refusedCookies({ presented, verdicts }: Witness): readonly string[] {
  return presented.flatMap(({ carrier }, at) =>
    carrier.in === "cookie" && verdicts[at]?.kind === "rejected" ? [carrier.name] : [],
  );
}
