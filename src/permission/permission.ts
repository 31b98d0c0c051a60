import type { Where } from "../store/store.ts";
import { everyAction, type Action, type Permission } from "./contract.ts";
import { decisionOf } from "./decision.ts";

export type { Action, Decision, Permission, PermissionRequest } from "./contract.ts";

/** Everyone, known or not. */
export const anyone: Permission = { name: "anyone", decide: () => "allow" };

/** Nobody at all. */
export const nobody: Permission = { name: "nobody", decide: () => "deny" };

/** Everyone who is logged in. */
export const authenticated: Permission = {
  name: "authenticated",
  decide: ({ identity }) => (identity === null ? "deny" : "allow"),
};

/** Administrators. */
export const administrator: Permission = {
  name: "administrator",
  decide: ({ identity }) => (identity?.role === "admin" ? "allow" : "deny"),
};

/** The user that the path names: `/users/7` for user 7. A list is narrowed to that user. */
export function self(parameter = "id"): Permission {
  return {
    name: "self",
    narrows: ["list"],
    decide({ identity, action, params }) {
      if (identity === null) return "deny";
      if (action === "list") return { only: { column: parameter, operator: "eq", value: identity.id } };
      return params[parameter] === identity.id ? "allow" : "deny";
    },
  };
}

/** The user whose id stands in a column of the record. Other rows are as if they were not there. */
export function owner(column: string): Permission {
  return {
    name: "owner",
    narrows: everyAction,
    decide: ({ identity }) => (identity === null ? "deny" : { only: { column, operator: "eq", value: identity.id } }),
  };
}

/** Whoever holds a credential with this scope, or one that is not limited. */
export function scope(name: string): Permission {
  return {
    name: `scope ${name}`,
    decide: ({ identity }) =>
      identity !== null && (identity.scopes === null || identity.scopes.includes(name)) ? "allow" : "deny",
  };
}

/** Whoever came without a credential, or with one that is not limited to scopes: for what would give away more than a limited one may do. */
export const unlimited: Permission = {
  name: "unlimited",
  decide: ({ identity }) => (identity === null || identity.scopes === null ? "allow" : "deny"),
};

/** Requests that change nothing. */
export const readOnly: Permission = {
  name: "read only",
  decide: ({ action }) => (action === "list" || action === "read" ? "allow" : "deny"),
};

/** What one of them allows; rows that one of them allows. */
export function anyOf(...permissions: readonly Permission[]): Permission {
  return {
    name: `any of (${names(permissions)})`,
    narrows: narrowedBy(permissions),
    decide(request) {
      const only: Where[] = [];
      for (const permission of permissions) {
        const decision = decisionOf(permission, request);
        if (decision === "allow") return "allow";
        if (decision !== "deny") only.push(decision.only);
      }
      return only.length === 0 ? "deny" : { only: only.length === 1 ? only[0]! : { any: only } };
    },
  };
}

/** What all of them allow; rows that all of them allow. */
export function allOf(...permissions: readonly Permission[]): Permission {
  return {
    name: `all of (${names(permissions)})`,
    narrows: narrowedBy(permissions),
    decide(request) {
      const only: Where[] = [];
      for (const permission of permissions) {
        const decision = decisionOf(permission, request);
        if (decision === "deny") return "deny";
        if (decision !== "allow") only.push(decision.only);
      }
      return only.length === 0 ? "allow" : { only: only.length === 1 ? only[0]! : { all: only } };
    },
  };
}

/** What the other does not allow at all. A permission that narrows to rows cannot be turned round, and throws. */
export function not(permission: Permission): Permission {
  return {
    name: `not ${permission.name}`,
    narrows: narrowedBy([permission]),
    decide(request) {
      const decision = decisionOf(permission, request);
      if (typeof decision === "object") {
        throw new TypeError(
          `not(${permission.name}): a permission that narrows rows cannot be negated. Write the opposite condition as a permission of its own.`,
        );
      }
      return decision === "allow" ? "deny" : "allow";
    },
  };
}

function narrowedBy(permissions: readonly Permission[]): readonly Action[] {
  return [...new Set(permissions.flatMap(({ narrows = [] }) => narrows))];
}

function names(permissions: readonly Permission[]): string {
  return permissions.map((each) => each.name).join(", ");
}
