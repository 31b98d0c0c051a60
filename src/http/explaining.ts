import type { Action } from "../access/permission/contract.ts";
import { decideOn } from "../access/permission/decision.ts";
import { Witness, formatExplanation, type Explanation } from "../access/scheme/explanation.ts";
import { Call, type Arrival } from "../core/call/call.ts";
import type { Eventually } from "../core/eventually.ts";
import type { Answer } from "./answer/writing.ts";
import type { ServiceCore } from "./core.ts";
import { Exchange } from "./exchange.ts";
import { MAX_BODY_BYTES } from "./limits.ts";
import { findEndpoint, type FindRoute } from "./routes.ts";

/** What the schemes would make of a request. Nothing is reported of it and nothing else happens. */
function explainArrival(
  service: ServiceCore & { readonly find: FindRoute },
  arrival: Arrival,
): Eventually<Explanation> {
  const call = new Call(arrival, service.callContext);
  if (findEndpoint(service.find(call.path)?.route, call.method)?.access === "open")
    return { outcome: "open", user: null, why: "The endpoint looks at no credential.", schemes: [] };
  call.letRead(() => arrival.readBody(MAX_BODY_BYTES));
  return service.chain.explain(call);
}

/** What a permission says of a caller, before anybody has looked for what they want. */
export interface PermissionExplanation {
  readonly name: string;
  readonly action: Action;
  readonly said: "allow" | "deny" | "some rows";
  /** What the rows are found by, where it is some of them. */
  readonly by: readonly string[];
}

/** What the schemes make of a request, and what the permission of its endpoint says; null where it has none, or nobody is asked. */
export interface WholeExplanation extends Explanation {
  /** The path as it is declared: `/orders/{id}`. */
  readonly route: string | null;
  readonly permission: PermissionExplanation | null;
}

/** Explains a request as a whole. Nothing is reported of it and nothing else happens. */
export async function explainWhole(
  service: ServiceCore & { readonly find: FindRoute },
  arrival: Arrival,
): Promise<WholeExplanation> {
  const explanation = await explainArrival(service, arrival);
  const call = new Call(arrival, service.callContext);
  const match = service.find(call.path);
  const endpoint = findEndpoint(match?.route, call.method);
  const whole = { ...explanation, route: match?.route.path ?? null, permission: null };
  if (match === null || endpoint === undefined || endpoint.access === "open") return whole;
  const { outcome } = explanation;
  if (outcome !== "identified" && outcome !== "nobody") return whole;
  const exchange = new Exchange(service, call, endpoint, match.params);
  if (outcome === "identified") exchange.identified = await service.chain.identify(call);
  const { name, columns = [] } = endpoint.access;
  const decision = decideOn(endpoint.access, exchange.context, endpoint.rows ?? null);
  const said = typeof decision === "string" ? decision : "some rows";
  return { ...whole, permission: { name, action: exchange.action, said, by: said === "some rows" ? columns : [] } };
}

/** A witness for a caller who asks for an explanation; whether they may have it is known only afterwards. */
export function findWitness(call: Call, header: string): Witness | null {
  return call.header(header) === "1" ? new Witness() : null;
}

/** Tells administrators, and nobody else, what each scheme saw. */
export function addExplanation({ chain, explainHeader }: ServiceCore, witness: Witness, { headers }: Answer): void {
  if (!witness.sawAdministrator) return;
  headers.push(explainHeader, formatExplanation(chain.tell(witness)));
  // What could be kept for everyone must not be kept with this.
  const at = headers.indexOf("Cache-Control");
  if (at !== -1) headers[at + 1] = "no-store";
}
