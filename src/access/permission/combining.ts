import type { AllowedRows, Confirmation, Decision, Permission, PermissionRequest } from "./contract.ts";
import { requireDecision } from "./decision.ts";

/**
 * Combines the decisions of several permissions. `enough` is `allow` for `anyOf`, and `deny` for `allOf`: one such
 * decision is the result. Otherwise returns a confirmation, or the rows that at least one decision (`anyOf`) or every
 * decision (`allOf`) allows. If no decision requires a confirmation or selects rows, returns the opposite of `enough`.
 */
export function decideTogether(
  permissions: readonly Permission<string>[],
  request: PermissionRequest,
  enough: "allow" | "deny",
): Decision {
  const only: AllowedRows[] = [];
  const confirmations: Confirmation[] = [];
  for (const permission of permissions) {
    const decision = requireDecision(permission, request);
    if (decision === enough) return enough;
    if (typeof decision === "string") continue;
    if ("confirm" in decision) confirmations.push(decision.confirm);
    else only.push(decision.only);
  }
  // With `allOf`, the caller must confirm first. With `anyOf`, a decision that needs no confirmation is used first.
  if (confirmations.length > 0 && (enough === "deny" || only.length === 0)) return { confirm: together(confirmations) };
  if (only.length === 0) return enough === "allow" ? "deny" : "allow";
  return { only: only.length === 1 ? only[0]! : enough === "allow" ? { any: only } : { all: only } };
}

/** Returns the strictest of several confirmations. */
function together(confirmations: readonly Confirmation[]): Confirmation {
  return {
    within: Math.min(...confirmations.map(({ within }) => within)),
    level: confirmations.some(({ level }) => level === 2) ? 2 : 1,
  };
}

/** Joins the declared members of several permissions, each without duplicates. */
export function joinDeclarations(
  permissions: readonly Permission<string>[],
): Required<
  Pick<
    Permission<string>,
    "narrows" | "columns" | "userIds" | "memberships" | "shares" | "identity" | "roles" | "problems"
  >
> {
  return {
    narrows: [...new Set(permissions.flatMap(({ narrows = [] }) => narrows))],
    columns: [...new Set(permissions.flatMap(({ columns = [] }) => columns))],
    userIds: [...new Set(permissions.flatMap(({ userIds = [] }) => userIds))],
    memberships: [...new Set(permissions.flatMap(({ memberships = [] }) => memberships))],
    shares: [...new Set(permissions.flatMap(({ shares = [] }) => shares))],
    identity: [...new Set(permissions.flatMap(({ identity = [] }) => identity))],
    roles: [...new Set(permissions.flatMap(({ roles = [] }) => roles))],
    problems: [...new Set(permissions.flatMap(({ problems = [] }) => problems))],
  };
}

/** Joins the names of several permissions. */
export function names(permissions: readonly Permission<string>[]): string {
  return permissions.map((each) => each.name).join(", ");
}
