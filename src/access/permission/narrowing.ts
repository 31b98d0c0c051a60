import type { Operator } from "../../core/operators.ts";
import type { Resource } from "../../resource/resource.ts";
import { findGroupColumn } from "../../resource/tables/references.ts";
import { readDecimal } from "../../store/decimal.ts";
import { isFolded } from "../../store/fold.ts";
import type { Collection, Column, Narrowing, Value } from "../../store/store.ts";
import type { AllowedRows, MemberRows, Permission } from "./contract.ts";

/** The table that a permission may narrow. */
export interface NarrowedTable {
  readonly collection: Collection;
  /** The mounted tables of the resources in `memberships` of its permissions. Left out if there are none. */
  readonly memberships?: ReadonlyMap<Resource, Collection>;
}

/**
 * The kind of value that each operator takes: one value, one value with an order, several values, a text, a text for a
 * folded column (compared without case), or a boolean.
 */
export const operators: Readonly<Record<Operator, "one" | "ordered" | "some" | "text" | "folded" | "flag">> = {
  eq: "one",
  ne: "one",
  lt: "ordered",
  lte: "ordered",
  gt: "ordered",
  gte: "ordered",
  in: "some",
  contains: "text",
  starts: "text",
  icontains: "folded",
  istarts: "folded",
  null: "flag",
};

/**
 * Returns allowed rows as a condition for the store, with the mounted tables of memberships. Throws a fault if a
 * condition does not fit its table.
 */
export function resolveRows(
  where: AllowedRows,
  permission: Permission<string>,
  rows: NarrowedTable,
  isTurned = false,
): Narrowing {
  if ("all" in where) return { all: where.all.map((each) => resolveRows(each, permission, rows, isTurned)) };
  if ("any" in where) return { any: where.any.map((each) => resolveRows(each, permission, rows, isTurned)) };
  // There are no memberships within it, because they are a fault there.
  if ("not" in where) return { not: resolveRows(where.not, permission, rows, true) } as Narrowing;
  if ("memberships" in where) return resolveMemberRows(where, permission, rows, isTurned);
  if (fits(where, rows.collection)) return where;
  throw new TypeError(
    `The permission ${permission.name} narrows ${rows.collection.name} by ${where.column} ${where.operator}. There is no such column, or it cannot be compared in this way.`,
  );
}

function resolveMemberRows(
  { column: named, memberships, select, where }: MemberRows,
  permission: Permission<string>,
  rows: NarrowedTable,
  isTurned: boolean,
): Narrowing {
  const fault = (why: string): TypeError =>
    new TypeError(`The permission ${permission.name} narrows ${rows.collection.name} by memberships. ${why}`);
  // A write can require a membership in its transaction, but not the lack of one.
  if (isTurned) throw fault("They cannot be within not.");
  if (permission.memberships?.includes(memberships) !== true)
    throw fault("It does not name their resource in its memberships.");
  const collection = rows.memberships?.get(memberships);
  if (collection === undefined) throw fault(`${String(memberships.path)} is not mounted in this service.`);
  const column = named ?? findGroupColumn(memberships, select, rows.collection.name);
  const type = findType(rows.collection, column);
  if ((type !== "integer" && type !== "text") || type !== findType(collection, select))
    throw fault(`The columns ${column} and ${select} cannot be compared.`);
  const inner = resolveRows(where, permission, { ...rows, collection });
  return { column, among: { collection, select, where: inner } };
}

function findType({ key, columns }: Collection, name: string): Column["type"] | undefined {
  return name === "id" ? key : columns.find((column) => column.name === name)?.type;
}

type ColumnCondition = Extract<AllowedRows, { readonly operator: Operator }>;

function fits({ column, operator, value }: ColumnCondition, { key, columns }: Collection): boolean {
  const declared = column === "id" ? { name: "id", type: key } : columns.find(({ name }) => name === column);
  if (declared === undefined) return false;
  switch (operators[operator]) {
    case "one":
    case "ordered":
      return isOfType(declared, value);
    case "some":
      return (value as readonly Value[]).every((each) => isOfType(declared, each));
    case "text":
      return declared.type === "text";
    case "folded":
      return isFolded(declared);
    case "flag":
      return true;
  }
}

function isOfType(column: Column, value: Value): boolean {
  const { type, number } = column;
  if (type === "json" || (type === "decimal" && readDecimal(column, value) === null)) return false;
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "double" || number === true) return typeof value === "number";
  return typeof value === (type === "boolean" ? "boolean" : "string");
}
