import type { RowsDecision } from "../../../access/permission/contract.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import type {
  Among,
  Collection,
  Key,
  Narrowing,
  Requirement,
  Store,
  StoredRecord,
  Where,
} from "../../../store/store.ts";
import type { Exchange } from "../../request/exchange.ts";
import { matches, type SettledWhere } from "./matches.ts";

/*
 * A list joins the condition of a permission to its query. Single records are judged in memory. A condition on
 * memberships is not in the record, so the database is asked once for all records that are judged together.
 */

/** A record, and the decision of a permission about it. */
export interface Judged {
  readonly record: StoredRecord;
  readonly decision: RowsDecision;
}

/** The table of the judged records. */
interface JudgedTable {
  readonly collection: Collection;
}

/** Returns true if a record in memory can be checked against the condition without the database. */
export function isSettled(where: Narrowing): where is SettledWhere {
  if ("all" in where) return where.all.every(isSettled);
  if ("any" in where) return where.any.every(isSettled);
  return !("among" in where);
}

/** Returns true if a record matches the condition. */
export function judge(
  table: JudgedTable,
  exchange: Exchange,
  record: StoredRecord,
  only: Narrowing,
): Eventually<boolean> {
  if (isSettled(only)) return matches(table.collection, record, only);
  return after(judgeEach(table, exchange, [{ record, decision: { only } }]), ([isAllowed]) => isAllowed!);
}

/**
 * Does the same as `judge` for a record that the request changes. If it matches because of memberships, the
 * transaction of the request requires them.
 */
export function judgeChanged(
  table: JudgedTable,
  exchange: Exchange,
  record: StoredRecord,
  only: Narrowing,
): Eventually<boolean> {
  if (isSettled(only)) return matches(table.collection, record, only);
  return after(judgeEachChanged(table, exchange, [{ record, decision: { only } }]), ([isAllowed]) => isAllowed!);
}

/** Returns for each record whether its decision allows it. Asks the database at most once for each condition. */
export function judgeEach(
  table: JudgedTable,
  exchange: Exchange,
  judged: readonly Judged[],
): Eventually<readonly boolean[]> {
  return after(evaluateEach(table, exchange, judged), (found) => found.map((relied) => relied !== null));
}

/**
 * Does the same as `judgeEach` for records that the request changes. If they are allowed because of memberships, the
 * transaction of the request requires them.
 */
export function judgeEachChanged(
  table: JudgedTable,
  exchange: Exchange,
  judged: readonly Judged[],
): Eventually<readonly boolean[]> {
  return after(evaluateEach(table, exchange, judged), (found) =>
    found.map((relied) => {
      if (relied === null) return false;
      for (const { name, requirement } of relied) exchange.rely(name, requirement);
      return true;
    }),
  );
}

/** Memberships because of which a record is allowed. */
interface Reliance {
  /** The same name means the same requirement. */
  readonly name: string;
  readonly requirement: Requirement;
}

const none: readonly never[] = [];

/** Returns for each record the memberships because of which it is allowed. Null: it is not allowed. */
function evaluateEach(
  { collection }: JudgedTable,
  { service }: Exchange,
  judged: readonly Judged[],
): Eventually<readonly (readonly Reliance[] | null)[]> {
  const lookups: Lookups = new Map();
  for (const { record, decision } of judged)
    if (typeof decision !== "string") collectLookups(record, decision.only, lookups);
  return after(lookUpAll(service.store, lookups), () =>
    judged.map(({ record, decision }) => {
      if (typeof decision === "string") return decision === "allow" ? none : null;
      return evaluate(collection, record, decision.only, lookups);
    }),
  );
}

/** The values of one column of memberships that are asked for, and those that were found. */
interface Lookup {
  readonly among: Among;
  readonly wanted: Set<Key>;
  readonly found: Set<Key>;
}

type Lookups = Map<string, Lookup>;

function collectLookups(record: StoredRecord, where: Narrowing, lookups: Lookups): void {
  if ("all" in where) for (const each of where.all) collectLookups(record, each, lookups);
  else if ("any" in where) for (const each of where.any) collectLookups(record, each, lookups);
  else if ("among" in where) {
    const name = formatCondition(where.among);
    let lookup = lookups.get(name);
    if (lookup === undefined) lookups.set(name, (lookup = { among: where.among, wanted: new Set(), found: new Set() }));
    const value = record[where.column];
    if (isKey(value)) lookup.wanted.add(value);
  }
}

function lookUpAll(store: Pick<Store, "list">, lookups: Lookups): Eventually<unknown> {
  const [first, ...others] = lookups.values();
  if (first === undefined) return undefined;
  const asked = lookUp(store, first);
  return others.length === 0 ? asked : Promise.all([asked, ...others.map((each) => lookUp(store, each))]);
}

/** Finds the wanted values. Several rows may have the same value, so a full page may lack some of them. */
function lookUp(store: Pick<Store, "list">, lookup: Lookup): Eventually<void> {
  const { among, wanted, found } = lookup;
  const { collection, select, where } = among;
  const left = [...wanted].filter((value) => !found.has(value));
  if (left.length === 0) return;
  const isWanted: Where =
    left.length === 1
      ? { column: select, operator: "eq", value: left[0]! }
      : { column: select, operator: "in", value: left };
  const rows = store.list({
    collection,
    where: { all: [where, isWanted] },
    sort: [{ column: select }, { column: "id" }],
    limit: left.length,
    columns: [select],
  });
  return after(rows, (page) => {
    for (const { record } of page) found.add(record[select] as Key);
    return page.length < left.length ? undefined : lookUp(store, lookup);
  });
}

/** Returns the memberships because of which a record matches a condition. Null: it does not match. */
function evaluate(
  collection: Collection,
  record: StoredRecord,
  where: Narrowing,
  lookups: Lookups,
): readonly Reliance[] | null {
  if (isSettled(where)) return matches(collection, record, where) ? none : null;
  if ("all" in where) {
    const parts = where.all.map((each) => evaluate(collection, record, each, lookups));
    return parts.every((part) => part !== null) ? parts.flat() : null;
  }
  if ("any" in where) {
    const parts = where.any.map((each) => evaluate(collection, record, each, lookups)).filter((part) => part !== null);
    // A part that needs no membership is enough.
    return parts.find(({ length }) => length === 0) ?? parts[0] ?? null;
  }
  const name = formatCondition(where.among);
  const value = record[where.column] as Key;
  if (lookups.get(name)?.found.has(value) !== true) return null;
  const { collection: memberships, select, where: counts } = where.among;
  const all: readonly Where[] = [{ column: select, operator: "eq", value }, counts];
  return [{ name: `${name} ${value}`, requirement: { collection: memberships, where: { all } } }];
}

function isKey(value: unknown): value is Key {
  return typeof value === "number" || typeof value === "string";
}

const names = new WeakMap<object, string>();

/** Returns a text that is equal for equal conditions. It has the names of tables in place of their declarations. */
export function formatCondition(condition: Narrowing | Among | RowsDecision): string {
  if (typeof condition === "string") return condition;
  let name = names.get(condition);
  if (name === undefined) names.set(condition, (name = JSON.stringify(condition, nameTable)));
  return name;
}

function nameTable(member: string, value: unknown): unknown {
  return member === "collection" ? (value as Collection).name : value;
}
