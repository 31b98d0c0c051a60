import { decideOn } from "../access/permission/decision.ts";
import { isUnsafe } from "../core/call/cross-site.ts";
import { problem } from "../core/problem/problem.ts";
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
function requireWithinScopes(exchange: Exchange): void {
  const { method } = exchange.endpoint;
  if (!scopesLet(exchange, isUnsafe(method) ? method : "GET"))
    throw problem("permission_denied", { detail: "The scopes of this credential do not allow it." });
}

/** Whether the scopes of the caller's credential are good for a method, where it is limited to any. */
export function scopesLet({ service: { scopesAllow }, observedIdentity: identity }: Exchange, method: string): boolean {
  if (identity === null || identity.scopes === null || scopesAllow === null) return true;
  return scopesAllow(identity.scopes, method);
}
