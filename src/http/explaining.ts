import { Witness, formatExplanation, type Explanation } from "../auth/explanation.ts";
import type { Eventually } from "../eventually.ts";
import { Call, type Arrival } from "./call.ts";
import type { ServiceCore } from "./core.ts";
import { requireEndpoint, type FindRoute } from "./routes.ts";
import type { Answer } from "./writing.ts";

/** What the schemes would make of a request. Nothing is reported of it and nothing else happens. */
export function explainArrival(
  service: ServiceCore & { readonly find: FindRoute },
  arrival: Arrival,
): Eventually<Explanation> {
  const call = new Call(arrival, service.callContext);
  const match = service.find(call.path);
  if (match !== null && requireEndpoint(match.route, call.method)?.access === "open")
    return { outcome: "open", user: null, why: "The endpoint looks at no credential.", schemes: [] };
  return service.chain.explain(call);
}

/** A witness for a caller who asks for an explanation; whether they may have it is known only afterwards. */
export function findWitness(call: Call): Witness | null {
  return call.header("x-latchkey-explain") === "1" ? new Witness() : null;
}

/** Tells administrators, and nobody else, what each scheme saw. */
export function addExplanation({ chain }: ServiceCore, witness: Witness, { headers }: Answer): void {
  if (!witness.sawAdministrator) return;
  headers.push("X-Latchkey-Explain", formatExplanation(chain.tell(witness)));
  // What could be kept for everyone must not be kept with this.
  const at = headers.indexOf("Cache-Control");
  if (at !== -1) headers[at + 1] = "no-store";
}
