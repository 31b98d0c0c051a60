import { factsOf, type MemberFacts } from "../../../access/permission/facts.ts";
import type { Permission } from "../../../access/permission/permission.ts";
import type { Identity } from "../../../core/identity.ts";
import { formatTitle } from "../../../resource/record-labels.ts";
import { findGroupColumn } from "../../../resource/tables/references.ts";

type SomePermission = Permission<string>;

/**
 * Says why a permission allows a caller what it asks about: "you are its owner". Returns null if several reasons are
 * possible, or if only the code of the permission knows. `table` is the table of the record.
 */
export function describeReason(permission: SomePermission, table: string, identity: Identity | null): string | null {
  const reasons = collectReasons(permission, table, identity);
  return reasons.length === 1 ? reasons[0]! : null;
}

/** The description of a permission is a condition, which begins with "they" if it is about the caller. */
export function describeCondition({ description }: SomePermission): string | null {
  return description?.replace(/^they /, "you ").replace(/^their /, "your ") ?? null;
}

/** Returns the possible reasons. Null is a reason without words. */
function collectReasons(
  permission: SomePermission,
  table: string,
  identity: Identity | null,
): readonly (string | null)[] {
  const facts = factsOf(permission);
  switch (facts?.kind) {
    case undefined:
      return [describeCondition(permission)];
    case "administrator":
      return identity?.role === "admin" ? ["you are an administrator"] : [];
    case "roles":
      return identity !== null && facts.roles.includes(identity.role)
        ? [`you are ${withArticle(inWords(identity.role))}`]
        : [];
    case "authenticated":
      return identity === null ? [] : ["you are logged in"];
    case "anyone":
      return ["everyone may"];
    case "self":
      return ["it is you"];
    case "owner":
      return ["it is yours"];
    case "member":
      return [describeMember(facts, table)];
    case "shares":
      return ["you share a group"];
    case "any": {
      const all = facts.parts.flatMap((part) => collectReasons(part, table, identity));
      // A role allows every record, so no other reason matters.
      const ofRole = all.find((each) => each?.startsWith("you are a") === true);
      return ofRole === undefined ? [...new Set(all)] : [ofRole];
    }
    default:
      return [null];
  }
}

function describeMember({ memberships, group, on, where }: MemberFacts, table: string): string {
  const isGroup = (on ?? findGroupColumn(memberships, group, table)) === "id";
  const [one] = where;
  const role = where.length === 1 && one!.values.length === 1 ? one!.values[0] : undefined;
  if (typeof role !== "string") return isGroup ? "you belong to it" : "it is of a group of yours";
  return isGroup ? `you are its ${inWords(role)}` : `you are ${inWords(role)} of its group`;
}

function inWords(name: string): string {
  return formatTitle(name).toLowerCase();
}

function withArticle(words: string): string {
  return `${/^[aeiou]/.test(words) ? "an" : "a"} ${words}`;
}
