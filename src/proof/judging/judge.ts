import type { Action, Permission } from "../../access/permission/contract.ts";
import { factsOf, type MemberFacts } from "../../access/permission/facts.ts";
import type { Identity } from "../../core/identity.ts";
import type { Resource } from "../../resource/resource.ts";
import { findReferencedTable } from "../../resource/tables/references.ts";
import { buildTableName } from "../../resource/tables/table.ts";
import type { StoredRecord } from "../../store/store.ts";
import type { State } from "../content/state.ts";
import { rowMatches } from "./rows.ts";

/** One question to a permission: may this caller do this with this row? */
export interface Question {
  readonly identity: Identity | null;
  readonly action: Action;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, number | string>>;
  /** The row. Null if the action has none. */
  readonly row: StoredRecord | null;
  /** The table of the row. */
  readonly table: string;
  readonly state: State;
  readonly now: number;
}

/**
 * Returns true if a declared permission allows a row. Judges the permissions of the toolkit by what they declare, and
 * asks only the functions of custom permissions. It shares no code with the service that it judges.
 */
export function allows(permission: Permission<string>, question: Question): boolean {
  const facts = factsOf(permission);
  if (facts === null) return asksCustom(permission, question);
  const { identity, action, row, params } = question;
  switch (facts.kind) {
    case "anyone":
      return true;
    case "nobody":
      return false;
    case "authenticated":
      return identity !== null;
    case "administrator":
      return identity?.role === "admin";
    case "read only":
      return action === "list" || action === "read";
    case "unlimited":
      return identity === null || identity.scopes === null;
    case "scope":
      return identity !== null && (identity.scopes === null || identity.scopes.includes(facts.scope));
    case "roles":
      return identity !== null && facts.roles.includes(identity.role);
    case "self":
      return (
        identity !== null && (action === "list" ? row?.[facts.parameter] : params[facts.parameter]) === identity.id
      );
    case "owner":
      return identity !== null && row?.[facts.column] === identity.id;
    case "same": {
      const value = identity?.fields?.[facts.field] ?? null;
      return value !== null && row?.[facts.column] === value;
    }
    case "member":
      return isMember(facts, question);
    case "shares":
      return sharesGroup(facts, question);
    case "any":
      return facts.parts.some((part) => allows(part, question));
    case "all":
      return facts.parts.every((part) => allows(part, question));
    case "not":
      return !allows(facts.part, question);
  }
}

/** Returns true if a permission allows the caller every row, with no condition on the row. */
export function allowsEveryRow(permission: Permission<string>, question: Question): boolean {
  const facts = factsOf(permission);
  const { identity, action, params, now } = question;
  switch (facts?.kind) {
    case undefined:
      return permission.decide({ identity, action, params, now }) === "allow";
    case "self":
    case "owner":
    case "same":
    case "member":
    case "shares":
      return false;
    case "any":
      return facts.parts.some((part) => allowsEveryRow(part, question));
    case "all":
      return facts.parts.every((part) => allowsEveryRow(part, question));
    default:
      return allows(permission, question);
  }
}

function isMember(
  { memberships, user, group, on, where }: MemberFacts,
  { identity, row, state, table }: Question,
): boolean {
  const wanted = row?.[on ?? groupColumn(memberships, group, table)] ?? null;
  if (identity === null || wanted === null) return false;
  return rowsOf(state, memberships).some(
    (membership) =>
      membership[user] === identity.id &&
      membership[group] === wanted &&
      where.every(({ column, values }) => values.some((each) => each === membership[column])),
  );
}

function sharesGroup(
  { memberships, user, group }: { readonly memberships: Resource; readonly user: string; readonly group: string },
  { identity, row, state }: Question,
): boolean {
  if (identity === null || row === null) return false;
  if (row["id"] === identity.id) return true;
  const all = rowsOf(state, memberships);
  const groups = new Set(all.filter((each) => each[user] === identity.id).map((each) => each[group]));
  return all.some((each) => each[user] === row["id"] && groups.has(each[group]));
}

function rowsOf(state: State, resource: Resource): readonly StoredRecord[] {
  return [...(state.get(buildTableName(resource))?.values() ?? [])];
}

function asksCustom(
  permission: Permission<string>,
  { identity, action, params, row, state, now, table }: Question,
): boolean {
  const decision = permission.decide({ identity, action, params, now });
  if (decision === "allow") return true;
  if (typeof decision !== "object" || decision === null || !("only" in decision)) return false;
  if (row === null) return true;
  return rowMatches(row, decision.only, {
    rows: (resource) => state.get(buildTableName(resource)) ?? new Map(),
    column: (resource, select) => groupColumn(resource, select, table),
  });
}

/** Returns the column of a table that holds the group: `id` for the groups themselves. */
function groupColumn(memberships: Resource, group: string, table: string): string {
  return findReferencedTable(memberships, group) === table ? "id" : group;
}
