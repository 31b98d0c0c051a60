import { factsOf } from "../../../access/permission/facts.ts";
import type { Permission } from "../../../access/permission/permission.ts";
import type { Identity } from "../../../core/identity.ts";
import type { Mount } from "../../../http/declarations/mount.ts";
import { describeCondition } from "./reasons.ts";

type SomePermission = Permission<string>;

/** True if only administrators have a permission: what it shows is for those who run the service. */
export function isForAdministrators(permission: SomePermission | undefined): boolean {
  return permission !== undefined && factsOf(permission)?.kind === "administrator";
}

/**
 * Says in one sentence what a caller may do with a list that the caller may open. `mayAdd` is true if the caller may
 * create records.
 */
export function describeAccess({ permissions }: Mount, identity: Identity | null, mayAdd: boolean): string {
  const { list } = permissions;
  if (isForAdministrators(list)) return "Only administrators see this.";
  const seen = list === undefined ? null : describeSeen(list, identity);
  if (seen !== null) return mayAdd ? `${seen}, and may add more.` : `${seen}.`;
  const verbs = ["read"];
  if (mayAdd) verbs.push("add");
  const { update, replace } = permissions;
  if ([update, replace].some((each) => each !== undefined && isAlwaysAllowed(each, identity))) verbs.push("change");
  const words = verbs.length < 2 ? verbs.join("") : `${verbs.slice(0, -1).join(", ")} and ${verbs.at(-1)!}`;
  const condition = list === undefined ? null : describeCondition(list);
  return `You may ${words} them${condition === null ? "" : `, because ${condition}`}.`;
}

/** Says which records a permission shows. Returns null if it shows all of them, or if only its code knows. */
function describeSeen(permission: SomePermission, identity: Identity | null): string | null {
  if (isAlwaysAllowed(permission, identity)) return null;
  const facts = factsOf(permission);
  switch (facts?.kind) {
    case "self":
      return facts.parameter === "id" ? "You see yourself" : "You see your own";
    case "owner":
      return "You see your own";
    case "member":
      return facts.on === "id" ? "You see those that you belong to" : "You see those of your groups";
    case "shares":
      return "You see those in your groups";
    case "any": {
      const parts = facts.parts.map((each) => describeSeen(each, identity)).filter((each) => each !== null);
      return parts.length === 1 ? parts[0]! : null;
    }
    default:
      return null;
  }
}

/** True if a permission allows this caller every record. */
function isAlwaysAllowed(permission: SomePermission, identity: Identity | null): boolean {
  const facts = factsOf(permission);
  switch (facts?.kind) {
    case "anyone":
      return true;
    case "authenticated":
      return identity !== null;
    case "administrator":
      return identity?.role === "admin";
    case "roles":
      return identity !== null && facts.roles.includes(identity.role);
    case "any":
      return facts.parts.some((each) => isAlwaysAllowed(each, identity));
    case "all":
      return facts.parts.every((each) => isAlwaysAllowed(each, identity));
    default:
      return false;
  }
}
