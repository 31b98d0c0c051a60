import {
  isKeyOf,
  OVERTAKEN,
  type Change,
  type Key,
  type Requirement,
  type Row,
  type Transaction,
  type Value,
  type Where,
} from "../../../store/store.ts";
import type { ServedFounder, ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";
import { canMake, canTake, isOwner, ownerConditions } from "./owners.ts";

// A group of a founder with `keep` has at least one membership with the values of the founder.

const LAST_OWNER = "last_owner";

/** The largest number of groups whose owners one transaction can remove. */
const MAX_GROUPS = 1000;

/** The row of a change before the write. */
interface KnownRow {
  /** Null if there was none. */
  readonly before: Row | null;
  /** The index of the change in the transaction. Default: the index in the list of rows. */
  readonly at?: number;
}

/** A change that can take owners from their groups. */
type Removal = Extract<Change, { readonly kind: "delete" | "update" | "deleteAll" | "updateAll" }>;

/** The memberships that the changes of a transaction take away, in their state before it. */
interface Taken {
  /** The groups that lose an owner. */
  readonly groups: ReadonlySet<Key>;
  /** The memberships that must not have changed since they were read. Otherwise, another group may lose its owner. */
  readonly requires: readonly Requirement[];
}

/** Changes that take owners only from known groups. */
interface Narrowed {
  readonly changes: readonly Change[];
  readonly checks: readonly Change[];
}

/**
 * Returns the transaction with what keeps an owner in each group, if it deletes, moves or changes memberships. It locks
 * the groups that lose an owner, and is refused (409 `last_owner`) if one of them has no owner after its changes. Knows
 * the changes of the records and of their hooks and actions. Without such changes, it reads nothing.
 */
export async function keepOwners(
  mount: ServedMount,
  exchange: Exchange,
  transaction: Transaction,
  writings: readonly KnownRow[],
): Promise<Transaction> {
  let guarded = transaction;
  for (const founder of mount.guardedFounders ?? []) {
    const removals = guarded.changes.flatMap((change, at) => (removes(founder, change) ? [{ change, at }] : []));
    if (removals.length === 0) continue;
    const known = new Map(writings.map(({ before, at }, place) => [at ?? place, before]));
    const taken = await collectTaken(founder, exchange, removals, known);
    guarded = keepEach(founder, guarded, taken);
  }
  return guarded;
}

function removes({ memberships: { collection } }: ServedFounder, change: Change): change is Removal {
  if (change.collection.name !== collection.name) return false;
  return REMOVALS.has(change.kind);
}

const REMOVALS: ReadonlySet<Change["kind"]> = new Set(["delete", "update", "deleteAll", "updateAll"]);

function keepEach(founder: ServedFounder, transaction: Transaction, { groups, requires }: Taken): Transaction {
  const { group, memberships } = founder;
  const { collection } = group;
  const deleted = new Set(
    transaction.changes.flatMap((each) =>
      each.kind === "delete" && each.collection.name === collection.name ? [each.key] : [],
    ),
  );
  // Each transaction that removes an owner locks the group. So the owners need no locks, and owners who leave at the
  // same time do not wait for each other in a circle. The store cannot lock rows that it may not update.
  const isGuarded = collection.existing === undefined || collection.existing.writes.includes("update");
  // In the same order in each transaction, so that two of them do not wait for each other.
  const sorted = [...groups].filter((id) => !deleted.has(id)).toSorted((one, other) => (one < other ? -1 : 1));
  const locks = sorted.map((id): Requirement => ({ collection, where: equals("id", id) }));
  const owners = sorted.map((id): Change => {
    const where: Where = { all: [equals(founder.founder.memberships.group, id), ...ownerConditions(founder)] };
    return { kind: "require", collection: memberships.collection, where, atLeast: 1, isGuarded, name: LAST_OWNER };
  });
  const narrowed = narrowAll(founder, transaction.changes, [...groups, ...deleted]);
  return {
    ...transaction,
    requires: [...requires, ...locks, ...(transaction.requires ?? [])],
    changes: [...narrowed.changes, ...owners, ...narrowed.checks],
  };
}

function equals(column: string, value: Key): Where {
  return { column, operator: "eq", value };
}

/**
 * Narrows the changes of all matching memberships, so that they take owners only from these groups. If a membership is
 * left out, because it became that of an owner after it was read, the checks refuse the transaction.
 */
function narrowAll(founder: ServedFounder, changes: readonly Change[], groups: readonly Key[]): Narrowed {
  const column = founder.founder.memberships.group;
  const owner: Where = { all: ownerConditions(founder) };
  const checks: Change[] = [];
  const given = givenGroups(founder, changes);
  const narrowed = changes.map((change): Change => {
    if (!removes(founder, change) || !("where" in change) || !mayTake(founder, change)) return change;
    const { collection, where } = change;
    if (given !== null) {
      const elsewhere: Where = { not: { column, operator: "in", value: [...groups, ...given] } };
      const leftOut: Where = { all: [where, owner, elsewhere] };
      checks.push({ kind: "require", collection, where: leftOut, atMost: 0, isGuarded: true, name: OVERTAKEN });
    }
    const harmless: Where = { any: [{ not: owner }, { column, operator: "in", value: groups }] };
    return { ...change, where: { all: [where, harmless] } };
  });
  return { changes: narrowed, checks };
}

/**
 * Returns the groups that the transaction itself gives to memberships. Returns null if it may make owners of other
 * groups, which are not known.
 */
function givenGroups(founder: ServedFounder, changes: readonly Change[]): readonly Key[] | null {
  const { group } = founder.founder.memberships;
  const written = changes.flatMap((change) =>
    change.collection.name === founder.memberships.collection.name && "values" in change ? [change.values] : [],
  );
  if (written.some((values) => isKeyOf(values[group]) || (values[group] === undefined && canMake(founder, values))))
    return null;
  return written.flatMap((values) => (values[group] === undefined ? [] : [values[group] as Key]));
}

/** Returns what the changes take from groups. Reads the memberships that are not known. */
async function collectTaken(
  founder: ServedFounder,
  exchange: Exchange,
  removals: readonly { readonly change: Removal; readonly at: number }[],
  known: ReadonlyMap<number, Row | null>,
): Promise<Taken> {
  const { group } = founder.founder.memberships;
  const groups = new Set<Key>();
  const requires: Requirement[] = [];
  await inTurns(removals, async ({ change, at }) => {
    if (!mayTake(founder, change)) return;
    for (const row of await rowsOf(founder, exchange, change, known.get(at))) {
      if (isOwner(founder, row.record)) groups.add(row.record[group] as Key);
      // A change with the revision needs no requirement.
      if ("key" in change && change.revision !== row.revision) requires.push(requireSame(founder, change.key, row));
    }
    if (groups.size > MAX_GROUPS)
      throw new TypeError(
        `One transaction takes owners from more than ${MAX_GROUPS} ${founder.group.resource.plural}.`,
      );
  });
  return { groups, requires };
}

/** Returns true if a change can take an owner from a group: it deletes, or it changes the group or the values. */
function mayTake(founder: ServedFounder, change: Removal): boolean {
  return !("values" in change) || canTake(founder, change.values);
}

/** Requires that a membership still is that of an owner of the same group, or that it still is none of an owner. */
function requireSame(founder: ServedFounder, key: Key, { record }: Row): Requirement {
  const { collection } = founder.memberships;
  const { group } = founder.founder.memberships;
  const same: Where = isOwner(founder, record)
    ? equals(group, record[group] as Key)
    : { not: { all: ownerConditions(founder) } };
  return { collection, where: { all: [equals("id", key), same] } };
}

/** Returns the memberships that a change may remove or alter, in their state before it. */
async function rowsOf(
  founder: ServedFounder,
  exchange: Exchange,
  change: Removal,
  known: Row | null | undefined,
): Promise<readonly Row[]> {
  if ("where" in change) return ownersAmong(founder, exchange, change.where);
  const row = known ?? (await exchange.service.store.find(founder.memberships.collection, change.key));
  return row === null ? [] : [row];
}

/** Returns one owner of each group that has owners among the matching memberships. */
async function ownersAmong(
  founder: ServedFounder,
  { service: { store } }: Exchange,
  where: Where,
): Promise<readonly Row[]> {
  const { collection } = founder.memberships;
  const { group } = founder.founder.memberships;
  const found = new Map<Value, Row>();
  let last: Value = null;
  for (;;) {
    const after: readonly Where[] = last === null ? [] : [{ column: "id", operator: "gt", value: last }];
    const all = [where, ...ownerConditions(founder), ...after];
    const rows = await store.list({
      collection,
      where: { all },
      sort: [{ column: "id" }],
      limit: MAX_GROUPS,
      long: true,
    });
    for (const row of rows) found.set(row.record[group]!, row);
    if (rows.length < MAX_GROUPS || found.size > MAX_GROUPS) return [...found.values()];
    last = rows.at(-1)!.record["id"]!;
  }
}
