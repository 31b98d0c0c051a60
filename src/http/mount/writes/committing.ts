import { setTimeout as wait } from "node:timers/promises";
import type { Reply } from "../../../core/call/call.ts";
import { atOnce } from "../../../core/checking/at-once.ts";
import { copyOfJSON } from "../../../core/exact-numbers.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Resource, StoredOf } from "../../../resource/resource.ts";
import { buildTableName } from "../../../resource/tables/table.ts";
import {
  keyOf,
  OVERTAKEN,
  type Change,
  type Key,
  type KeyOf,
  type Outcome,
  type Row,
  type Transaction,
} from "../../../store/store.ts";
import { namesState } from "../../answer/conditional.ts";
import { convertToFault } from "../../answer/error-conversion.ts";
import { findLinkPath } from "../../declarations/links.ts";
import { withAllFields, hidesValues } from "../../declarations/mount.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Written } from "../../declarations/write.ts";
import type { RecordWrite } from "../../request/alongside.ts";
import type { Exchange } from "../../request/exchange.ts";
import { requireInTime } from "../../request/in-time.ts";
import { yieldBetweenSteps, inTurns } from "../../scheduling/slices.ts";
import { findVisible, showChanged } from "../reads/reading.ts";
import { requireRoomForRepeats } from "./idempotency.ts";
import { keepOwners } from "./keeping.ts";
import type { Unwritten } from "./outcome.ts";
import { replay } from "./replaying.ts";

/**
 * The number of attempts. If four processes change one record as fast as possible, two or three of ten attempts
 * succeed.
 */
const ATTEMPTS = 30;

/** The longest wait between two attempts, in milliseconds. A write of another process takes a few milliseconds. */
const MOST_APART_MS = 128;

/**
 * Tries a write until it succeeds, and returns its reply. A write without If-Match, or with `If-Match: *`, applies to
 * any state of the record, so it is tried again if another write came first. From the second attempt, it waits in the
 * queue of its record, and later writes of that record join the queue. The queue orders only the writes of this
 * process. Other processes may still write first, so a random wait follows each failed attempt in the queue. The wait
 * grows up to `MOST_APART_MS`.
 */
export async function untilSettled(
  mount: ServedMount,
  exchange: Exchange,
  attempt: () => Promise<Reply | null>,
): Promise<Reply> {
  const { lines } = exchange.service;
  const { id } = exchange.params;
  const record = `${mount.collection.name} ${id ?? ""}`;
  // A write to a collection makes one attempt before it joins the queue, because it may change other records. A write
  // of a caller who may not see the record does the same, because it must not delay other callers.
  // Memberships of an earlier attempt may be removed by now. Each attempt judges its records again.
  const judgedAttempt = (): Promise<Reply | null> => {
    exchange.relied = null;
    return attempt();
  };
  const linesUp = id !== undefined && lines.has(record) && (await findVisible(mount, exchange)) !== null;
  if (!linesUp) {
    const reply = await judgedAttempt();
    if (reply !== null) return reply;
  }
  return lines.runAfterEarlier(record, () => retryAttempt(exchange, judgedAttempt));
}

async function retryAttempt({ context }: Exchange, attempt: () => Promise<Reply | null>): Promise<Reply> {
  for (let made = 1; made < ATTEMPTS; made++) {
    requireInTime(context);
    const reply = await attempt();
    if (reply !== null) return reply;
    await wait(Math.random() * Math.min(2 ** made, MOST_APART_MS));
  }
  throw problem("conflict");
}

export const REPLAYED = ["Idempotency-Replayed", "true"] as const;

/** The facts about a write that are known before the write. */
export interface WriteFacts {
  readonly kind: Written["kind"];
  /** The name of the action. Null for other writes. */
  readonly action: string | null;
  /** The row before the write. Null if there was none, or if no row is changed. */
  readonly before: Row | null;
  /** The index of its change in the transaction. Default: its index in the list of writes. */
  readonly at?: number;
  /** The mount of the record. Default: the mount of the request. */
  readonly of?: ServedMount;
}

/**
 * Commits a write and calls `afterWrite`. If the body was large, other requests run before the response is written,
 * because the response is large too.
 */
export function commit(
  mount: ServedMount,
  exchange: Exchange,
  transaction: Transaction,
  writing: WriteFacts,
): Promise<Outcome> {
  return commitAll(mount, exchange, transaction, [writing]);
}

/**
 * Commits a write of several records, like `commit`. The transaction begins with one change for each record, unless
 * `at` gives another index.
 */
export async function commitAll(
  mount: ServedMount,
  exchange: Exchange,
  transaction: Transaction,
  writings: readonly WriteFacts[],
): Promise<Outcome> {
  return commitWhole(mount, exchange, await withAlongside(mount, exchange, transaction, writings), writings);
}

/** Commits a transaction that already contains the `alongside` changes, like `commitAll`. */
export async function commitWhole(
  mount: ServedMount,
  exchange: Exchange,
  whole: Transaction,
  writings: readonly WriteFacts[],
): Promise<Outcome> {
  const outcome = completed(placedIn(mount, whole, await exchange.write(withRelied(exchange, whole))), whole, writings);
  requireRoomForRepeats(outcome, exchange);
  if (outcome.kind === "written" && writings.some(({ of = mount }) => of.afterWrite !== null))
    await inTurns(writings, (writing, place) => {
      const { of = mount, at = place } = writing;
      if (of.afterWrite !== null) callAfterWrite(of.afterWrite, exchange, writing, outcome.rows[at] ?? null);
    });
  await yieldBetweenSteps(exchange.body);
  return outcome;
}

/** Adds the memberships because of which the write is allowed. If one of them is removed, nothing is written. */
function withRelied({ relied }: Exchange, transaction: Transaction): Transaction {
  if (relied === null) return transaction;
  return { ...transaction, requires: [...(transaction.requires ?? []), ...relied.values()] };
}

/**
 * Returns true if the state that the write was prepared from has changed, for example if a membership that allowed it
 * was removed. The write must then be judged again.
 */
export function isUnmet(outcome: Outcome): boolean {
  return outcome.kind === "refused" && outcome.name === OVERTAKEN;
}

/**
 * Completes the rows of an outcome. If an update returns only some columns, the other columns get their values from
 * before the write.
 */
function completed(outcome: Outcome, { changes }: Transaction, writings: readonly WriteFacts[]): Outcome {
  if (outcome.kind !== "written" || writings.every(({ before }) => before === null)) return outcome;
  const rows = [...outcome.rows];
  for (const [place, { at = place, before }] of writings.entries()) {
    const change = changes[at];
    const row = rows[at] ?? null;
    if (change?.kind !== "update" || change.shown === undefined || before === null || row === null) continue;
    rows[at] = { revision: row.revision, record: { ...before.record, ...row.record } };
  }
  return { ...outcome, rows };
}

/** Adds details to an outcome: the path of an id that refers to no record, or the issues of a refused `require`. */
function placedIn({ links }: ServedMount, { changes }: Transaction, outcome: Outcome): Outcome {
  if (outcome.kind === "refused") {
    const change = changes[outcome.change];
    return change?.kind === "require" && change.issues !== undefined ? { ...outcome, issues: change.issues } : outcome;
  }
  if (outcome.kind !== "dangling" || links.length === 0) return outcome;
  return { ...outcome, column: findLinkPath(links, changes, outcome) ?? outcome.column };
}

/**
 * Adds the changes of features to a write, for example a line of an audit trail, and the check of the maximum of its
 * mount. They are committed or rolled back together.
 */
export async function withAlongside(
  mount: ServedMount,
  exchange: Exchange,
  transaction: Transaction,
  writings: readonly WriteFacts[],
): Promise<Transaction> {
  const {
    service: { alongside },
    cause,
  } = exchange;
  const guarded = await keepOwners(mount, exchange, transaction, writings);
  const more: Change[] = requireMaximums(mount, transaction, writings);
  if (alongside.length === 0 && more.length === 0) return guarded;
  await inTurns(writings, ({ kind, action, before, of = mount, at: given }, place) => {
    const at = given ?? place;
    // A write through an older shape is reported as a write of the newer resource, so that each table has one name.
    const { resource } = withAllFields(of.newer ?? of);
    const id = before === null ? (kind === "create" ? idMadeBy(transaction, at) : null) : (before.record["id"] as Key);
    const write: RecordWrite = { resource, kind, action, id, deletedWith: null, cause };
    for (const each of [write, ...deletedWith(of, write, before)])
      for (const changesFor of alongside) more.push(...atOnce(changesFor(each), "alongside"));
  });
  return { ...guarded, changes: [...guarded.changes, ...more] };
}

/**
 * Returns the changes that refuse the transaction if an owner would have more records than the mount allows. They are
 * checked in the transaction after its writes, so that no other write can come between.
 */
function requireMaximums(
  mount: ServedMount,
  { changes }: Transaction,
  writings: readonly WriteFacts[],
): Extract<Change, { kind: "require" }>[] {
  const required = new Map<string, Extract<Change, { kind: "require" }>>();
  for (const [place, { at = place, before, of: { maximum, collection } = mount }] of writings.entries()) {
    const change = changes[at];
    if (maximum === null || (change?.kind !== "insert" && change?.kind !== "update")) continue;
    const { per: column, records: atMost } = maximum;
    const value = change.values[column];
    const isCounted = typeof value === "number" || typeof value === "string" || typeof value === "boolean";
    if (!isCounted || before?.record[column] === value) continue;
    const where = { column, operator: "eq", value } as const;
    required.set(`${collection.name} ${value}`, { kind: "require", collection, where, atMost, name: "too_many" });
  }
  return [...required.values()];
}

/**
 * Returns one write for each resource whose records the database will delete together with this record. It has no id,
 * because the service does not know which records these are.
 */
function deletedWith(
  of: ServedMount,
  { resource, kind, cause }: RecordWrite,
  before: Row | null,
): readonly RecordWrite[] {
  if (kind !== "delete" || before === null) return [];
  const parent = { resource, id: before.record["id"] as Key };
  return cascadesFrom(of).map((each) => {
    return { resource: each.resource, kind, action: null, id: null, deletedWith: parent, cause };
  });
}

/** Returns the id of a new record. If the store will assign the id, returns a placeholder for it. */
function idMadeBy({ changes }: Transaction, at: number): Key | KeyOf {
  const change = changes[at];
  const insertedKey = change?.kind === "insert" ? change.key : undefined;
  return typeof insertedKey === "string" ? insertedKey : keyOf(at);
}

/** Calls the hook after a write. An error of the hook is a fault and does not change the response. */
function callAfterWrite(
  afterWrite: NonNullable<ServedMount["afterWrite"]>,
  exchange: Exchange,
  { kind, action, before }: WriteFacts,
  left: Row | null,
): void {
  const isAboutNone = kind === "action" && before === null;
  const after = kind === "delete" || isAboutNone ? null : left;
  const id = isAboutNone ? null : readId(before ?? after);
  const observeFault = (error: unknown): void =>
    exchange.service.observe?.({ kind: "fault", requestId: exchange.call.requestId, error: convertToFault(error) });
  try {
    const result: unknown = afterWrite({
      kind,
      action,
      id,
      before: before === null ? null : copyRecord(before),
      after: after === null ? null : copyRecord(after),
      cause: exchange.cause,
    });
    if (result instanceof Promise) result.catch(observeFault);
  } catch (error) {
    observeFault(error);
  }
}

function readId(row: Row | null): Key | null {
  return row === null ? null : (row.record["id"] as Key);
}

/** Returns a copy for the hook. Changes to it do not affect the response. */
function copyRecord(row: Row): StoredOf<Resource> {
  return copyOfJSON(toStoredRecord(row));
}

/** Returns the record of a row. Records of the store always have an id. */
export function toStoredRecord({ record }: Row): StoredOf<Resource> {
  return record as StoredOf<Resource>;
}

/**
 * Returns true if the record has changed, but perhaps only in a `noted` field or in a field that the caller may not
 * read. This is no conflict with the state that the caller knows, so the write is tried again.
 */
export function isMaybeUnseen(outcome: Unwritten, mount: ServedMount): boolean {
  return outcome.kind === "stale" && (mount.noted !== undefined || hidesValues(mount));
}

/** Returns true if another write changed the rows first and this write must be tried again. */
export function isOvertaken(outcome: Unwritten, { call }: Exchange): boolean {
  if (outcome.kind === "refused") return isUnmet(outcome);
  if (outcome.kind !== "stale" && outcome.kind !== "missing") return false;
  // The precondition of the caller concerns only the record, which is the first change. If another row of the
  // transaction has changed, the write is tried again.
  return outcome.change > 0 || !namesState(call);
}

/** Returns the reply to a repeated change. */
export async function replayed(mount: ServedMount, exchange: Exchange, row: Row): Promise<Reply> {
  return replay(mount, exchange, [row], async () => {
    const reply = isErased(mount, row) ? { status: 204 } : await showChanged(mount, exchange, row);
    return { ...reply, headers: [REPLAYED] };
  });
}

/**
 * Returns true if the record and its stored copies were deleted. The response to a repeated request then shows no
 * record.
 */
export function isErased({ sources }: ServedMount, { record }: Row): boolean {
  return sources.some((name) => !Object.hasOwn(record, name));
}

const cache = new WeakMap<ServedMount, readonly ServedMount[]>();

/**
 * Returns the mounts whose records the database deletes together with a record of this mount, at any depth: nested
 * records, and records that refer to the record with `onDelete: "cascade"`. If the records of this mount refer to each
 * other, the result contains this mount too.
 */
function cascadesFrom(mount: ServedMount): readonly ServedMount[] {
  let found = cache.get(mount);
  if (found === undefined) cache.set(mount, (found = findCascades(mount)));
  return found;
}

function findCascades(mount: ServedMount): readonly ServedMount[] {
  const found = new Set<ServedMount>();
  const add = (of: ServedMount): void => {
    for (const each of of.referrers)
      if (!found.has(each) && cascades(each, buildTableName(of.resource))) {
        found.add(each);
        add(each);
      }
  };
  add(mount);
  return [...found];
}

function cascades({ collection }: ServedMount, table: string): boolean {
  return collection.columns.some(
    ({ references }) => references?.collection === table && references.onDelete === "cascade",
  );
}
