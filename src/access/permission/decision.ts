import { types } from "node:util";
import { describeType } from "../../core/checking/members.ts";
import { orderOperators, type Operator, type OrderOperator } from "../../core/operators.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Value } from "../../store/store.ts";
import type { AllowedRows, Confirmation, Decision, Permission, PermissionRequest, RowsDecision } from "./contract.ts";
import { operators, resolveRows, type NarrowedTable } from "./narrowing.ts";

const MAX_CONDITIONS = 1000;
const MAX_DEPTH = 32;

/**
 * Asks a permission. Throws a fault for any result that is not a decision, also for a promise. Access is then denied.
 */
export function requireDecision(permission: Permission<string>, request: PermissionRequest): Decision {
  const answer: unknown = permission.decide(request);
  if (answer === "allow" || answer === "deny") return answer;
  const only = readOnly(answer);
  if (only !== null) return { only };
  const confirm = readConfirmation(answer);
  if (confirm !== null) return { confirm };
  // A rejection of a promise without a handler would end the process.
  if (types.isPromise(answer)) answer.catch(() => undefined);
  throw new TypeError(`The permission ${permission.name} gave ${undecided(answer)}`);
}

/** Explains why a result is not a decision, and how to write one. */
function undecided(answer: unknown): string {
  if (isObject(answer) && Object.keys(answer).join() === "only")
    return `{ only: … } without a condition. Give { all }, { any }, { not }, or { column, operator, value } with a value that the operator takes; ${orderOperators.join(", ")} do not take a boolean.`;
  return `${describeType(answer)}. It has to return "allow", "deny", { only: … } or { confirm: … }, and no promise.`;
}

function readConfirmation(answer: unknown): Confirmation | null {
  if (!isObject(answer) || Object.keys(answer).join() !== "confirm" || !isObject(answer["confirm"])) return null;
  const { within, level } = answer["confirm"];
  const isRight = Number.isFinite(within) && (within as number) > 0 && (level === 1 || level === 2);
  return isRight ? { within: within as number, level } : null;
}

/**
 * Asks a permission when the caller cannot be asked to confirm, for example about a record to embed in the response. A
 * decision that requires a confirmation then counts as `deny`.
 */
export function decideOn(
  permission: Permission<string>,
  request: PermissionRequest,
  rows: NarrowedTable | null,
): RowsDecision {
  const decision = askPermission(permission, request, rows);
  return typeof decision === "object" && "confirm" in decision ? "deny" : decision;
}

/**
 * Asks a permission. `rows` is the table that it may narrow, or null if there is none. Throws a fault if it narrows by
 * unknown columns.
 */
export function askPermission(
  permission: Permission<string>,
  request: PermissionRequest,
  rows: NarrowedTable | null,
): RowsDecision | { readonly confirm: Confirmation } {
  const decision = requireDecision(permission, request);
  if (typeof decision === "string" || "confirm" in decision) return decision;
  if (rows === null)
    throw new TypeError(
      `The permission ${permission.name} narrows to rows, but this endpoint has no rows. Use it for a mounted resource, or decide with "allow" and "deny".`,
    );
  return { only: resolveRows(decision.only, permission, rows) };
}

/** Returns the rows of a valid `{ only }` as a copy. Returns null for any other value. */
function readOnly(answer: unknown): AllowedRows | null {
  if (!isObject(answer) || Object.keys(answer).join() !== "only") return null;
  return readWhere(answer["only"], { conditions: MAX_CONDITIONS }, MAX_DEPTH);
}

function readWhere(condition: unknown, left: { conditions: number }, depth: number): AllowedRows | null {
  if (!isObject(condition) || depth === 0 || --left.conditions < 0) return null;
  const members = Object.keys(condition).toSorted().join();
  const { all, any, not, column, operator, value, memberships, select, where } = condition;
  if (members === "not") {
    const turned = readWhere(not, left, depth - 1);
    return turned === null ? null : { not: turned };
  }
  if (members === "all" || members === "any") {
    const parts: unknown = members === "all" ? all : any;
    if (!Array.isArray(parts)) return null;
    const read = Array.from(parts, (each: unknown) => readWhere(each, left, depth - 1));
    if (!read.every((each) => each !== null)) return null;
    return members === "all" ? { all: read } : { any: read };
  }
  if (members === "column,memberships,select,where" || members === "memberships,select,where") {
    const inner = readWhere(where, left, depth - 1);
    const isNamed = Object.hasOwn(condition, "column");
    if (
      (isNamed && typeof column !== "string") ||
      typeof select !== "string" ||
      !isObject(memberships) ||
      inner === null
    )
      return null;
    // Only a resource in `memberships` of the permission is used, so the object is not checked here.
    const rows = { memberships: memberships as unknown as Resource, select, where: inner };
    return typeof column === "string" ? { column, ...rows } : rows;
  }
  if (members !== "column,operator,value" || typeof column !== "string") return null;
  if (!isOperator(operator)) return null;
  const read: unknown = Array.isArray(value) ? Array.from(value) : value;
  if (isOrderOperator(operator)) return isOrdered(read) ? { column, operator, value: read } : null;
  return isValueFor(operator, read) ? { column, operator, value: read } : null;
}

function isOperator(operator: unknown): operator is Operator {
  return typeof operator === "string" && Object.hasOwn(operators, operator);
}

function isOrderOperator(operator: Operator): operator is OrderOperator {
  return operators[operator] === "ordered";
}

/**
 * Refuses booleans. SQL orders them, but `matches`, which checks a single record, does not. A list could then show a
 * record that the read of the record refuses.
 */
function isOrdered(value: unknown): value is string | number {
  return typeof value === "string" || Number.isFinite(value);
}

/**
 * Refuses undefined, null and NaN. No row is equal to them, and every row is different from them, so such a condition
 * is a mistake.
 */
function isValueFor(operator: Operator, value: unknown): value is Value {
  switch (operators[operator]) {
    case "one":
      return isScalar(value);
    case "ordered":
      return isOrdered(value);
    case "some":
      return Array.isArray(value) && value.every(isScalar);
    case "text":
    case "folded":
      return typeof value === "string";
    case "flag":
      return typeof value === "boolean";
  }
}

function isScalar(value: unknown): boolean {
  return typeof value === "boolean" || isOrdered(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !types.isPromise(value);
}
