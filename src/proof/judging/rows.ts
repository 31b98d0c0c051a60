import type { AllowedRows } from "../../access/permission/contract.ts";
import type { Resource } from "../../resource/resource.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { TableRows } from "../content/state.ts";

/** Finds the rows of memberships, and the column that is compared with theirs. */
export interface MembershipLookup {
  rows(resource: Resource): TableRows;
  /** Returns the column of the narrowed table, if the condition names none. */
  column(resource: Resource, select: string): string;
}

/** Returns true if a row matches the condition of a custom permission. */
export function rowMatches(row: StoredRecord, where: AllowedRows, memberships: MembershipLookup): boolean {
  if ("all" in where) return where.all.every((each) => rowMatches(row, each, memberships));
  if ("any" in where) return where.any.some((each) => rowMatches(row, each, memberships));
  if ("not" in where) return !rowMatches(row, where.not, memberships);
  if ("memberships" in where)
    return [...memberships.rows(where.memberships).values()].some(
      (membership) =>
        membership[where.select] !== null &&
        membership[where.select] === row[where.column ?? memberships.column(where.memberships, where.select)] &&
        rowMatches(membership, where.where, memberships),
    );
  const value = row[where.column] ?? null;
  if (where.operator === "null") return (value === null) === where.value;
  return value !== null && compares(value, where.operator, where.value);
}

function compares(value: unknown, operator: string, wanted: unknown): boolean {
  switch (operator) {
    case "eq":
      return isEqual(value, wanted);
    case "ne":
      return !isEqual(value, wanted);
    case "in":
      return (wanted as readonly unknown[]).some((each) => isEqual(value, each));
    case "contains":
      return String(value).includes(String(wanted));
    case "starts":
      return String(value).startsWith(String(wanted));
    case "icontains":
      return String(value).toLowerCase().includes(String(wanted).toLowerCase());
    case "istarts":
      return String(value).toLowerCase().startsWith(String(wanted).toLowerCase());
    default:
      return isOrdered(value, operator, wanted);
  }
}

function isOrdered(value: unknown, operator: string, wanted: unknown): boolean {
  const [one, other] = asNumbers(value, wanted) ?? [String(value), String(wanted)];
  switch (operator) {
    case "lt":
      return one < other;
    case "lte":
      return one <= other;
    case "gt":
      return one > other;
    case "gte":
      return one >= other;
    default:
      throw new TypeError(`A permission gave the operator ${operator}.`);
  }
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

function asNumbers(one: unknown, other: unknown): readonly [number, number] | null {
  const both = [one, other].map((each) =>
    typeof each === "number" || (typeof each === "string" && DECIMAL.test(each)) ? Number(each) : null,
  );
  return both[0] === null || both[1] === null ? null : [both[0]!, both[1]!];
}

function isEqual(one: unknown, other: unknown): boolean {
  const numbers = typeof one === typeof other ? null : asNumbers(one, other);
  return numbers === null ? one === other : numbers[0] === numbers[1];
}
