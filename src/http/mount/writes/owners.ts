import type { Change, Collection, Key, StoredRecord, Value, Where } from "../../../store/store.ts";
import type { ServedFounder } from "../../declarations/mount.ts";

// An owner is a membership with the values of the founder.

/** Returns the conditions of a membership that is an owner: the values of the founder. */
export function ownerConditions({ founder: { values } }: ServedFounder): readonly Where[] {
  return Object.entries(values).map(([column, value]) =>
    value === null ? { column, operator: "null", value: true } : { column, operator: "eq", value },
  );
}

/** Returns true if written values can take an owner from a group, or give it one. */
export function touches(
  { founder: { memberships, values } }: ServedFounder,
  written: Readonly<Record<string, unknown>>,
): boolean {
  return [memberships.group, ...Object.keys(values)].some((name) => written[name] !== undefined);
}

/**
 * Returns the group that has one owner less after the change. Returns null if the membership stays that of an owner.
 */
export function takenGroup(founder: ServedFounder, before: StoredRecord, change: Change): Key | null {
  const { group } = founder.founder.memberships;
  if (!isOwner(founder, before)) return null;
  const after = "values" in change ? { ...before, ...change.values } : null;
  if (after !== null && isOwner(founder, after) && after[group] === before[group]) return null;
  const left = before[group];
  return typeof left === "number" || typeof left === "string" ? left : null;
}

/** Returns true if a membership is that of an owner. */
export function isOwner(founder: ServedFounder, record: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(founder.founder.values).every(([name, value]) =>
    sameValue(founder.memberships.collection, name, record[name], value),
  );
}

/** True if both are the same value of a column. Values of an existing table may have another spelling. */
function sameValue({ columns }: Collection, name: string, one: unknown, other: Value): boolean {
  const { type } = columns.find((column) => column.name === name)!;
  if (one === null || one === undefined || other === null) return (one ?? null) === other;
  return type === "decimal" ? Number(one) === Number(other) : one === other;
}
