import type { Confirmation } from "../../access/permission/contract.ts";
import { askPermission } from "../../access/permission/decision.ts";
import { isUnsafe } from "../../core/call/cross-site.ts";
import { stepUpChallenge } from "../../core/levels.ts";
import { problem, type Problem } from "../../core/problem/problem.ts";
import type { Exchange } from "./exchange.ts";

/** Ends the request if the permission denies it. Narrows the request to some rows if the permission says so. */
export function requirePermission(exchange: Exchange): void {
  const { access } = exchange.endpoint;
  if (access === "open") return;
  requireWithinScopes(exchange);
  const decision = askPermission(access, exchange.context, exchange.endpoint.rows ?? null);
  if (decision === "allow") return;
  if (typeof decision === "object" && "confirm" in decision) throw confirmationRequired(exchange, decision.confirm);
  if (decision !== "deny") {
    exchange.only = decision.only;
    return;
  }
  exchange.requireIdentity();
  throw problem("permission_denied");
}

/** Returns the challenge of RFC 9470 §3. */
function confirmationRequired({ call }: Exchange, { within, level }: Confirmation): Problem {
  const value = stepUpChallenge(call.realm, within, level);
  return problem("confirmation_required", { headers: [["WWW-Authenticate", value]] });
}

/** Ends the request if the scopes of its credential do not allow it, even if the permission of its user does. */
function requireWithinScopes(exchange: Exchange): void {
  const { method } = exchange.endpoint;
  if (!scopesLet(exchange, isUnsafe(method) ? method : "GET"))
    throw problem("permission_denied", { detail: "The scopes of this credential do not allow it." });
}

/** Returns true if the scopes of the caller's credential allow a method, or if the credential has no scopes. */
export function scopesLet({ service: { scopesAllow }, observedIdentity: identity }: Exchange, method: string): boolean {
  if (identity === null || identity.scopes === null || scopesAllow === null) return true;
  return scopesAllow(identity.scopes, method);
}
