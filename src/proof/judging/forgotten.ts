import type { Permission } from "../../access/permission/contract.ts";
import { factsOf } from "../../access/permission/facts.ts";
import type { ResourceAction, ServedMount } from "../../http/declarations/mount.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { Sight } from "./sight.ts";

/** The actions that show or change the same: a permission that narrows one of them narrows the others too. */
const siblings: readonly (readonly ResourceAction[])[] = [
  ["list", "read"],
  ["update", "replace", "delete"],
];

/**
 * Returns the action that a permission of the project denies for the row, although the same permission allows this one
 * for every row: its function has forgotten this one. Returns null if there is none.
 */
export function findForgotten(
  sight: Sight,
  action: ResourceAction,
  mount: ServedMount,
  row: StoredRecord,
): ResourceAction | null {
  const permission = mount.permissions[action];
  const group = siblings.find((each) => each.includes(action));
  if (permission === undefined || group === undefined || !sight.may(action, mount, row)) return null;
  // A UUID or a text may be a secret that lets its holder read.
  if (action === "read" && mount.resource.id !== "integer") return null;
  const others = group.filter((each) => each !== action && mount.permissions[each] === permission);
  const forgetful = others.filter((other) =>
    customParts(permission).some(({ narrows = [] }) => narrows.includes(other) && !narrows.includes(action)),
  );
  return forgetful.find((other) => sight.mayWithAny(other, mount, row) && !sight.may(other, mount, row)) ?? null;
}

/** Returns the parts of a permission that only their functions know. */
function customParts(permission: Permission<string>): readonly Permission<string>[] {
  const facts = factsOf(permission);
  if (facts === null) return [permission];
  return "parts" in facts ? facts.parts.flatMap(customParts) : [];
}
