import type { Collection, Value, Where } from "../../../store/store.ts";
import type { ServedFounder } from "../../declarations/mount.ts";

// An owner is a membership with the values of the founder.

type Written = Readonly<Record<string, unknown>>;

/** Returns the conditions of a membership that is an owner: the values of the founder. */
export function ownerConditions({ founder: { values } }: ServedFounder): readonly Where[] {
  return Object.entries(values).map(([column, value]) =>
    value === null ? { column, operator: "null", value: true } : { column, operator: "eq", value },
  );
}

/** Returns true if written values can take an owner from a group: they give another group, or other values. */
export function canTake(founder: ServedFounder, written: Written): boolean {
  return written[founder.founder.memberships.group] !== undefined || hasOther(founder, written);
}

/** Returns true if written values can make a membership that of an owner, and leave its group. */
export function canMake(founder: ServedFounder, written: Written): boolean {
  return Object.keys(founder.founder.values).some((name) => written[name] !== undefined) && !hasOther(founder, written);
}

/** Returns true if a membership with these values cannot belong to an owner. */
function hasOther({ founder: { values }, memberships: { collection } }: ServedFounder, written: Written): boolean {
  return Object.entries(values).some(
    ([name, value]) => written[name] !== undefined && !isSame(collection, name, written[name], value),
  );
}

/** Returns true if a membership is that of an owner. */
export function isOwner({ founder: { values }, memberships: { collection } }: ServedFounder, record: Written): boolean {
  return Object.entries(values).every(([name, value]) => isSame(collection, name, record[name], value));
}

/** True if both are the same value of a column. Values of an existing table may have another spelling. */
function isSame({ columns }: Collection, name: string, one: unknown, other: Value): boolean {
  const isDecimal = columns.some((column) => column.name === name && column.type === "decimal");
  const plain = (value: unknown): unknown => (isDecimal && value !== null ? Number(value) : value);
  return plain(one) === plain(other);
}
