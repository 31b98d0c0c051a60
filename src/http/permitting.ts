import { isUnsafe } from "../call/cross-site.ts";
import { decideOn } from "../permission/decision.ts";
import { problem } from "../problem/problem.ts";
import type { Exchange } from "./exchange.ts";

/** Narrows to rows where the permission says so; ends the request where it says no. */
export function requirePermission(exchange: Exchange): void {
  const { access } = exchange.endpoint;
  if (access === "open") return;
  requireWithinScopes(exchange);
  const decision = decideOn(access, exchange.context, exchange.endpoint.rows ?? null);
  if (decision === "allow") return;
  if (decision !== "deny") {
    exchange.only = decision.only;
    return;
  }
  exchange.requireIdentity();
  throw problem("permission_denied");
}

/** A limited credential does no more than its scopes allow, wherever the permission would let its user. */
function requireWithinScopes({ service: { scopesAllow }, observedIdentity: identity, endpoint }: Exchange): void {
  if (identity === null || identity.scopes === null || scopesAllow === null) return;
  if (!scopesAllow(identity.scopes, isUnsafe(endpoint.method) ? endpoint.method : "GET"))
    throw problem("permission_denied", { detail: "The scopes of this credential do not allow it." });
}
