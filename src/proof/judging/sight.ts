import type { Permission } from "../../access/permission/contract.ts";
import type { Identity } from "../../core/identity.ts";
import type { ResourceAction, ServedMount } from "../../http/declarations/mount.ts";
import { exemptionOf, permissionOf } from "../../http/declarations/rules.ts";
import type { FieldRule } from "../../resource/declaration/field.ts";
import type { Key, StoredRecord } from "../../store/store.ts";
import { findRow, type State } from "../content/state.ts";
import { allows } from "./judge.ts";

/** The rows and fields that the declarations let one caller see and change, in one state of the world. */
export interface Sight {
  readonly identity: Identity | null;
  /** Returns true if the caller may do this with the row. A custom action has its own permission. */
  may(action: ResourceAction, mount: ServedMount, row: StoredRecord): boolean;
  /** Returns true if the permission lets the caller do this with some row under the path of this one. */
  mayWithAny(action: ResourceAction, mount: ServedMount, row: StoredRecord): boolean;
  /** Returns true if the permission of a custom action allows the row. */
  mayCall(permission: Permission<string>, mount: ServedMount, row: StoredRecord): boolean;
  /** Returns true if the caller may read the row at its own path, or find it in a list. */
  mayRead(mount: ServedMount, row: StoredRecord): boolean;
  /** As `mayRead`, without the limits of the scopes of its credential. */
  mayReadUnlimited(mount: ServedMount, row: StoredRecord): boolean;
  /** Returns true if the row is the caller's own user. Logins and the entry point show it with every scope. */
  isOwn(mount: ServedMount, row: StoredRecord): boolean;
  /** Returns true if the rule of the field lets the caller read it in this row. */
  mayReadField(mount: ServedMount, field: string, row: StoredRecord): boolean;
  /** Returns true if the rule of the field lets the caller send it. */
  mayWriteField(mount: ServedMount, field: string, row: StoredRecord | null): boolean;
  /** Returns true if the caller may read the parent of this row, or if it has none. Scopes do not limit it. */
  mayReadParent(mount: ServedMount, row: StoredRecord): boolean;
  /** Returns true if the caller may write records within the parent of this row, and within the records above it. */
  mayWriteWithin(mount: ServedMount, row: StoredRecord): boolean;
}

/** The parts that a sight depends on. */
export interface SightParts {
  readonly identity: Identity | null;
  readonly state: State;
  readonly now: number;
  readonly usersTable: string;
  /** True if scopes limit what a credential may do: `read` and `write`. */
  readonly hasScopes: boolean;
}

/** Makes the sight of a caller. */
export function makeSight({ identity, state, now, usersTable, hasScopes }: SightParts): Sight {
  const scopeLets = (needed: "read" | "write"): boolean =>
    !hasScopes || identity === null || identity.scopes === null || identity.scopes.includes(needed);

  const isAllowed = (action: ResourceAction, mount: ServedMount, row: StoredRecord, place = row): boolean =>
    isPermitted({ identity, state, now }, action, mount, { row, place });

  const parentOf = ({ parent, resource }: ServedMount, row: StoredRecord): StoredRecord | null =>
    parent === null ? null : findRow(state, parent.collection.name, row[resource.parentColumn!]);

  const mayReach = (mount: ServedMount, row: StoredRecord): boolean => {
    if (mount.parent === null) return true;
    const parent = parentOf(mount, row);
    return parent !== null && isAllowed("read", mount.parent, parent) && mayReach(mount.parent, parent);
  };

  // A caller who may read a record and write within it needs no more than reading of the records above.
  const mayWriteBelow = (mount: ServedMount, row: StoredRecord, readsBelow: boolean): boolean => {
    const { parent, writers } = mount;
    if (parent === null) return true;
    const above = parentOf(mount, row);
    const reads = readsBelow || writers === "readers";
    if (above === null || !mayWriteBelow(parent, above, reads)) return false;
    return isAllowed(reads || parent.permissions.update === undefined ? "read" : "update", parent, above);
  };

  const mayReadUnlimited = (mount: ServedMount, row: StoredRecord): boolean =>
    (isAllowed("read", mount, row) || isAllowed("list", mount, row)) && mayReach(mount, row);

  const rules = new Map<FieldRule, boolean>();
  const ruleAllows = (rule: FieldRule): boolean => {
    const question = { identity, action: "read", params: {}, row: null, table: "", state, now } as const;
    const known = rules.get(rule) ?? allows(permissionOf(rule), question);
    rules.set(rule, known);
    return known;
  };
  const passes = (rule: FieldRule | undefined, mount: ServedMount, row: StoredRecord | null): boolean => {
    if (rule === undefined || ruleAllows(rule)) return true;
    const isOwn =
      mount.collection.name === usersTable && identity !== null && row !== null && row["id"] === identity.id;
    const own = exemptionOf(rule)?.own;
    return own !== undefined && (row === null || (isOwn && (own === null || ruleAllows(own))));
  };

  return {
    identity,
    mayReadUnlimited,
    mayWithAny: (action, mount, row) =>
      scopeLets(action === "list" || action === "read" ? "read" : "write") &&
      [...(state.get(mount.collection.name)?.values() ?? [])].some((each) => isAllowed(action, mount, each, row)),
    mayCall: (permission, mount, row) =>
      scopeLets("write") &&
      allows(permission, {
        identity,
        action: "call",
        params: paramsOf(mount, row, state),
        row,
        table: mount.collection.name,
        state,
        now,
      }),
    may: (action, mount, row) =>
      scopeLets(action === "list" || action === "read" ? "read" : "write") &&
      isAllowed(action, mount, row) &&
      mayReach(mount, row),
    mayRead: (mount, row) => scopeLets("read") && mayReadUnlimited(mount, row),
    isOwn: (mount, row) => mount.collection.name === usersTable && row["id"] === identity?.id,
    mayReadField(mount, name, row) {
      const field = mount.resource.fields[name];
      return field === undefined || (field.options.writeOnly !== true && passes(field.options.read, mount, row));
    },
    mayWriteField(mount, name, row) {
      const field = mount.resource.fields[name];
      if (field === undefined) return false;
      const { readOnly, generated, write } = field.options;
      return readOnly !== true && generated === undefined && field.computed === undefined && passes(write, mount, row);
    },
    mayReadParent: mayReach,
    mayWriteWithin: (mount, row) => mayWriteBelow(mount, row, false),
  };
}

/** Returns true if the permission of the mount allows the action on the row, at the path of `place`. */
function isPermitted(
  { identity, state, now }: Pick<SightParts, "identity" | "state" | "now">,
  action: ResourceAction,
  mount: ServedMount,
  { row, place }: { readonly row: StoredRecord; readonly place: StoredRecord },
): boolean {
  const permission = mount.permissions[action];
  if (permission === undefined) return false;
  const table = mount.collection.name;
  return allows(permission, { identity, action, params: paramsOf(mount, place, state), row, table, state, now });
}

/** Returns the parameters of the path of a row. */
export function paramsOf(mount: ServedMount, row: StoredRecord, state: State): Readonly<Record<string, Key>> {
  const params: Record<string, Key> = { id: row["id"] as Key };
  let [at, below]: [ServedMount, StoredRecord | null] = [mount, row];
  while (at.parent !== null && below !== null) {
    const id = below[at.resource.parentColumn!] as Key;
    params[at.resource.parentColumn!] = id;
    below = findRow(state, at.parent.collection.name, id);
    at = at.parent;
  }
  return params;
}
