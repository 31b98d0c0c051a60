import type {
  Change,
  Collection,
  Key,
  Requirement,
  Row,
  StoredRecord,
  Transaction,
  Value,
  Where,
} from "../../../store/store.ts";
import type { ServedFounder, ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";

// A group of a founder with `keep` has at least one membership with the values of the founder.

const LAST_OWNER = "last_owner";

/** The largest number of groups whose owners one transaction can remove. */
const MAX_GROUPS = 1000;

/** The requirements of a transaction that let each group keep an owner. */
export interface Keeping {
  /** Locks the groups, so that two transactions do not each remove one of the last two owners. */
  readonly requires: readonly Requirement[];
  /** Refuse the transaction (409 `last_owner`) if a group has no owner after its changes. */
  readonly changes: readonly Change[];
}

/** The row of a change before the write. */
interface KnownRow {
  /** Null if there was none. */
  readonly before: Row | null;
  /** The index of the change in the transaction. Default: the index in the list of rows. */
  readonly at?: number;
}

const NOTHING: Keeping = { requires: [], changes: [] };

/**
 * Returns what the transaction must fulfil if it removes owners: the memberships that it deletes, moves or changes.
 * Knows the changes of the records and of their hooks and actions. Without such changes, it reads nothing.
 */
export async function keepOwners(
  mount: ServedMount,
  exchange: Exchange,
  transaction: Transaction,
  writings: readonly KnownRow[],
): Promise<Keeping> {
  const all: Keeping[] = [];
  for (const founder of mount.guardedFounders ?? []) {
    const { name } = founder.memberships.collection;
    if (!transaction.changes.some(({ kind, collection }) => collection.name === name && removes(kind))) continue;
    const groups = await collectGroups(founder, exchange, transaction.changes, new Map(beforeOf(writings)));
    if (groups.size > 0) all.push(keepEach(founder, groups));
  }
  if (all.length === 0) return NOTHING;
  return { requires: all.flatMap(({ requires }) => requires), changes: all.flatMap(({ changes }) => changes) };
}

function removes(kind: Change["kind"]): boolean {
  return kind === "delete" || kind === "update" || kind === "deleteAll" || kind === "updateAll";
}

/** Returns the records before the write, by the places of their changes. */
function beforeOf(writings: readonly KnownRow[]): readonly (readonly [number, StoredRecord])[] {
  return writings.flatMap(({ before, at }, place) => (before === null ? [] : [[at ?? place, before.record] as const]));
}

function keepEach(founder: ServedFounder, groups: ReadonlySet<Key>): Keeping {
  const { collection } = founder.group;
  // Each transaction that removes an owner locks the group. So the owners need no locks, and owners who leave at the
  // same time do not wait for each other in a circle. The store cannot lock rows that it may not update.
  const isGuarded = collection.existing === undefined || collection.existing.writes.includes("update");
  // In the same order in each transaction, so that two of them do not wait for each other.
  const sorted = [...groups].toSorted((one, other) => (one < other ? -1 : 1));
  return {
    requires: sorted.map((group) => ({ collection, where: { column: "id", operator: "eq", value: group } })),
    changes: sorted.map((group) => ({
      kind: "require",
      collection: founder.memberships.collection,
      where: ownersOf(founder, group),
      atLeast: 1,
      isGuarded,
      name: LAST_OWNER,
    })),
  };
}

function ownersOf(founder: ServedFounder, group: Key): Where {
  const ofGroup = { column: founder.founder.memberships.group, operator: "eq", value: group } as const;
  return { all: [ofGroup, ...ownerConditions(founder)] };
}

function ownerConditions({ founder: { values } }: ServedFounder): readonly Where[] {
  return Object.entries(values).map(([column, value]) =>
    value === null ? { column, operator: "null", value: true } : { column, operator: "eq", value },
  );
}

/** Returns the groups from which the changes take an owner. A group that they delete is not among them. */
async function collectGroups(
  founder: ServedFounder,
  exchange: Exchange,
  changes: readonly Change[],
  known: ReadonlyMap<number, StoredRecord>,
): Promise<ReadonlySet<Key>> {
  const { collection } = founder.memberships;
  const groups = new Set<Key>();
  await inTurns(changes, async (change, at) => {
    if (change.collection.name !== collection.name || !removes(change.kind)) return;
    for (const record of await recordsOf(founder, exchange, change, known.get(at))) {
      const left = takenGroup(founder, record, change);
      if (left !== null) groups.add(left);
    }
    if (groups.size > MAX_GROUPS)
      throw new TypeError(
        `One transaction takes owners from more than ${MAX_GROUPS} ${founder.group.resource.plural}.`,
      );
  });
  const { name } = founder.group.collection;
  for (const change of changes)
    if (change.kind === "delete" && change.collection.name === name) groups.delete(change.key);
  return groups;
}

/** Returns the memberships that a change may remove or alter, in their state before it. */
async function recordsOf(
  founder: ServedFounder,
  exchange: Exchange,
  change: Change,
  known: StoredRecord | undefined,
): Promise<readonly StoredRecord[]> {
  if (known !== undefined) return [known];
  if ("values" in change && !touches(founder, change.values)) return [];
  const { store } = exchange.service;
  const { collection } = founder.memberships;
  if (change.kind === "delete" || change.kind === "update") {
    const row = await store.find(collection, change.key);
    return row === null ? [] : [row.record];
  }
  return "where" in change ? ownersAmong(founder, exchange, change.where) : [];
}

/** Returns one owner of each group that has owners among the matching memberships. */
async function ownersAmong(
  founder: ServedFounder,
  { service: { store } }: Exchange,
  where: Where,
): Promise<readonly StoredRecord[]> {
  const { collection } = founder.memberships;
  const { group } = founder.founder.memberships;
  const found = new Map<Value, StoredRecord>();
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
    for (const { record } of rows) found.set(record[group]!, record);
    if (rows.length < MAX_GROUPS || found.size > MAX_GROUPS) return [...found.values()];
    last = rows.at(-1)!.record["id"]!;
  }
}

function touches(
  { founder: { memberships, values } }: ServedFounder,
  written: Readonly<Record<string, unknown>>,
): boolean {
  return [memberships.group, ...Object.keys(values)].some((name) => written[name] !== undefined);
}

/** Returns the group that has one owner less after the change. Returns null if the membership stays that of an owner. */
function takenGroup(founder: ServedFounder, before: StoredRecord, change: Change): Key | null {
  const { group } = founder.founder.memberships;
  if (!isOwner(founder, before)) return null;
  const after = "values" in change ? { ...before, ...change.values } : null;
  if (after !== null && isOwner(founder, after) && after[group] === before[group]) return null;
  const left = before[group];
  return typeof left === "number" || typeof left === "string" ? left : null;
}

function isOwner(founder: ServedFounder, record: Readonly<Record<string, unknown>>): boolean {
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
