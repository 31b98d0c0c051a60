import type { Action } from "../access/permission/contract.ts";
import { decideOn } from "../access/permission/decision.ts";
import { Witness, formatExplanation, type Explanation } from "../access/scheme/explanation.ts";
import { Call, type Arrival } from "../core/call/call.ts";
import type { Eventually } from "../core/eventually.ts";
import type { Answer } from "./answer/writing.ts";
import { narrowedColumns } from "./declarations/memberships.ts";
import type { ServedMount } from "./declarations/mount.ts";
import { findEndpoint, type FindRoute } from "./declarations/routes.ts";
import { MAX_BODY_BYTES } from "./limits.ts";
import { seenAt } from "./mount/seen-by.ts";
import type { ServiceCore } from "./request/core.ts";
import { Exchange } from "./request/exchange.ts";

/** Explains the result of each scheme for a request. Emits no observation and changes no state. */
function explainArrival(
  service: ServiceCore & { readonly find: FindRoute },
  arrival: Arrival,
): Eventually<Explanation> {
  const call = new Call(arrival, service.callContext);
  if (findEndpoint(service.find(call.path)?.route, call.method)?.access === "open")
    return { outcome: "open", user: null, why: "The endpoint looks at no credential.", schemes: [] };
  call.letRead(() => arrival.readBody(MAX_BODY_BYTES));
  return service.schemeSet.explain(call);
}

/** The result of a permission for a caller, before the target is read. */
export interface PermissionExplanation {
  readonly name: string;
  readonly action: Action;
  readonly said: "allow" | "deny" | "some rows";
  /** The columns that select the rows, if only some rows are allowed. */
  readonly by: readonly string[];
}

/**
 * The result of the schemes for a request, and of its endpoint's permission. The permission is null if the endpoint is
 * open, or if a rejected credential ends the request before the permission decides.
 */
export interface WholeExplanation extends Explanation {
  /** The declared path: `/orders/{id}`. */
  readonly route: string | null;
  readonly permission: PermissionExplanation | null;
}

/**
 * Explains the result of the schemes and of the permission for a request. Emits no observation and changes no state.
 */
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
  if (outcome === "identified") exchange.identified = await service.schemeSet.identify(call);
  const { name } = endpoint.access;
  const columns = narrowedColumns(endpoint.access, endpoint.mounted?.collection.name ?? "");
  const decision = decideOn(endpoint.access, exchange.context, endpoint.rows ?? null);
  const said = typeof decision === "string" ? decision : "some rows";
  const by =
    said === "some rows" ? columns.filter((column) => !isConcealedFrom(exchange, endpoint.mounted, column)) : [];
  return { ...whole, permission: { name, action: exchange.action, said, by } };
}

/** Returns true if the rules of fields hide the name of a column from the caller. */
function isConcealedFrom(exchange: Exchange, mount: ServedMount | undefined, column: string): boolean {
  if (mount === undefined) return false;
  const { resource } = seenAt(mount.newer ?? mount, exchange);
  return Object.hasOwn(resource.concealed ?? {}, column);
}

/**
 * Returns a witness if the request asks for an explanation. Otherwise returns null. The witness records the result of
 * each scheme. The role of the caller is not checked here, because the caller is not identified yet: `addExplanation`
 * answers only administrators.
 */
export function findWitness(call: Call, header: string): Witness | null {
  return call.header(header) === "1" ? new Witness() : null;
}

/** Adds the explanation of each scheme to the response, for administrators only. */
export function addExplanation({ schemeSet, explainHeader }: ServiceCore, witness: Witness, { headers }: Answer): void {
  if (!witness.sawAdministrator) return;
  headers.push(explainHeader, formatExplanation(schemeSet.explainWitness(witness)));
  // A cache must not send the explanation to other callers.
  const at = headers.indexOf("Cache-Control");
  if (at !== -1) headers[at + 1] = "no-store";
}
