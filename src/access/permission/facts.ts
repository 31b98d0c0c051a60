import type { Resource } from "../../resource/resource.ts";
import type { Permission } from "./contract.ts";
import { findCombination } from "./implying.ts";

/**
 * The rows and callers that a permission of the toolkit allows, as data. `prove` judges by it, without asking the
 * permission.
 */
export type PermissionFacts =
  | { readonly kind: "anyone" | "nobody" | "authenticated" | "administrator" | "read only" | "unlimited" }
  /** The user whose id is in a parameter of the path, or in the column of this name. */
  | { readonly kind: "self"; readonly parameter: string }
  /** The user whose id is in the column. */
  | { readonly kind: "owner"; readonly column: string }
  | { readonly kind: "scope"; readonly scope: string }
  | { readonly kind: "roles"; readonly roles: readonly string[] }
  /** The rows whose column has the caller's value of a field in the identity. */
  | { readonly kind: "same"; readonly field: string; readonly column: string }
  | MemberFacts
  /** The caller, and users who have a membership of the same group. */
  | { readonly kind: "shares"; readonly memberships: Resource; readonly user: string; readonly group: string }
  | { readonly kind: "any" | "all"; readonly parts: readonly Permission<string>[] }
  | { readonly kind: "not"; readonly part: Permission<string> };

/** The rows of the groups in which the caller has a membership with these values. */
export interface MemberFacts {
  readonly kind: "member";
  readonly memberships: Resource;
  /** The column of the memberships with the id of the user. */
  readonly user: string;
  /** The column of the memberships with the id of the group. */
  readonly group: string;
  /** The column of the narrowed resource with the id of the group. Default: that of `findGroupColumn`. */
  readonly on: string | undefined;
  /** The accepted values of each field of the membership. */
  readonly where: readonly { readonly column: string; readonly values: readonly (string | number | boolean)[] }[];
}

const stated = new WeakMap<object, PermissionFacts>();

/** Remembers what a permission allows. Returns the permission. */
export function stateFacts<P extends object>(permission: P, facts: PermissionFacts): P {
  stated.set(permission, facts);
  return permission;
}

/** Returns what a permission allows. Returns null for a custom permission, which only its function knows. */
export function factsOf(permission: object): PermissionFacts | null {
  const facts = stated.get(permission);
  if (facts !== undefined) return facts;
  const combination = findCombination(permission);
  return combination === null
    ? null
    : { kind: combination.of, parts: combination.parts as readonly Permission<string>[] };
}

/** Returns the facts of a permission and of all its parts. */
export function collectFacts(permission: object): readonly PermissionFacts[] {
  const facts = factsOf(permission);
  if (facts === null) return [];
  if (facts.kind === "not") return [facts, ...collectFacts(facts.part)];
  return "parts" in facts ? [facts, ...facts.parts.flatMap(collectFacts)] : [facts];
}
