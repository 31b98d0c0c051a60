import { setTimeout as wait } from "node:timers/promises";
import type { Reply } from "../../../core/call/call.ts";
import { atOnce } from "../../../core/checking/at-once.ts";
import { copyOfJSON } from "../../../core/exact-numbers.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Resource, StoredOf } from "../../../resource/resource.ts";
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
import type { RecordWrite } from "../../alongside.ts";
import { toldFault } from "../../answer/tellable.ts";
import { giveWay, inTurns } from "../../body/turns.ts";
import type { Exchange } from "../../exchange.ts";
import { requireInTime } from "../../limiting/in-time.ts";
import { placeOfLink } from "../links.ts";
import type { MountInPlace } from "../mount.ts";
import { findVisible, showChanged } from "../reads/reading.ts";
import { cascadesFrom } from "./cascading.ts";
import { requireRoomForRepeats } from "./idempotency.ts";
import type { Unwritten } from "./outcome.ts";
import type { Written } from "./write.ts";

/** Two or three of ten succeed where four processes change one record as fast as they can. */
const ATTEMPTS = 30;

/** So long a change of another process is waited for at most, in milliseconds: it takes a few. */
const MOST_APART_MS = 128;

/**
 * The reply of the first attempt that gives one. Whoever changes a record without If-Match wants the change on whatever is there: where another
 * was faster, it is made anew on what that one has written. In this process they do so one after another, and whoever comes meanwhile lines up
 * as well, for one of the two would be in vain; from those of other processes they come apart by a random time, longer with the first attempts.
 */
export async function untilSettled(
  placed: MountInPlace,
  exchange: Exchange,
  attempt: () => Promise<Reply | null>,
): Promise<Reply> {
  const { lines } = exchange.service;
  const { id } = exchange.params;
  const record = `${placed.collection.name} ${id ?? ""}`;
  // Writes of a collection may be about other records than what stands in the line, and whoever may not know of the record is in nobody's way.
  const linesUp = id !== undefined && lines.has(record) && (await findVisible(placed, exchange)) !== null;
  if (!linesUp) {
    const reply = await attempt();
    if (reply !== null) return reply;
  }
  return lines.behind(record, () => attemptAnew(exchange, attempt));
}

async function attemptAnew({ context }: Exchange, attempt: () => Promise<Reply | null>): Promise<Reply> {
  for (let made = 1; made < ATTEMPTS; made++) {
    requireInTime(context);
    const reply = await attempt();
    if (reply !== null) return reply;
    await wait(Math.random() * Math.min(2 ** made, MOST_APART_MS));
  }
  throw problem("conflict");
}

export const REPLAYED = ["Idempotency-Replayed", "true"] as const;

/** What a transaction is about, as far as it is known before it is written. */
export interface Writing {
  readonly kind: Written["kind"];
  /** The name of the action; null for every other kind. */
  readonly action: string | null;
  /** The row as it was; null where there was none, or none is changed. */
  readonly before: Row | null;
  /** The place of its change among those of the transaction; its own place among the writings where it is left out. */
  readonly at?: number;
  /** The mount whose record it is, where that is another one. */
  readonly of?: MountInPlace;
}

/** Writes, tells `afterWrite`, and lets others go first where the answer is as large as the body was. */
export function commit(
  placed: MountInPlace,
  exchange: Exchange,
  transaction: Transaction,
  writing: Writing,
): Promise<Outcome> {
  return commitAll(placed, exchange, transaction, [writing]);
}

/** The same of several records: the first changes are theirs, one for each. */
export async function commitAll(
  placed: MountInPlace,
  exchange: Exchange,
  transaction: Transaction,
  writings: readonly Writing[],
): Promise<Outcome> {
  return commitWhole(placed, exchange, await withAlongside(placed, exchange, transaction, writings), writings);
}

/** The same of a transaction that has everything. */
export async function commitWhole(
  placed: MountInPlace,
  exchange: Exchange,
  whole: Transaction,
  writings: readonly Writing[],
): Promise<Outcome> {
  const outcome = completed(placedIn(placed, whole, await exchange.write(whole)), whole, writings);
  requireRoomForRepeats(outcome, exchange);
  if (outcome.kind === "written" && writings.some(({ of = placed }) => of.afterWrite !== null))
    await inTurns(writings, (writing, place) => {
      const { of = placed, at = place } = writing;
      if (of.afterWrite !== null) tell(of.afterWrite, exchange, writing, outcome.rows[at] ?? null);
    });
  await giveWay(exchange.body);
  return outcome;
}

/** Makes the rows of an outcome whole: if an update shows only some columns, the others are as they were. */
function completed(outcome: Outcome, { changes }: Transaction, writings: readonly Writing[]): Outcome {
  if (outcome.kind !== "written") return outcome;
  const rows = [...outcome.rows];
  for (const [place, { at = place, before }] of writings.entries()) {
    const change = changes[at];
    const row = rows[at] ?? null;
    if (change?.kind !== "update" || change.shown === undefined || before === null || row === null) continue;
    rows[at] = { revision: row.revision, record: { ...before.record, ...row.record } };
  }
  return { ...outcome, rows };
}

/** Adds to an outcome its place in the record: the list that has an unknown id, or the issues of a `require`. */
function placedIn({ links }: MountInPlace, { changes }: Transaction, outcome: Outcome): Outcome {
  if (outcome.kind === "refused") {
    const change = changes[outcome.change];
    return change?.kind === "require" && change.issues !== undefined ? { ...outcome, issues: change.issues } : outcome;
  }
  if (outcome.kind !== "dangling" || links.length === 0) return outcome;
  return { ...outcome, column: placeOfLink(links, changes, outcome) ?? outcome.column };
}

/** Adds the changes that belong to every write of any resource: an event, a line of a trail. They are written or undone with it. */
export async function withAlongside(
  placed: MountInPlace,
  { service: { alongside }, cause }: Exchange,
  transaction: Transaction,
  writings: readonly Writing[],
): Promise<Transaction> {
  if (alongside.length === 0) return transaction;
  const more: Change[] = [];
  await inTurns(writings, ({ kind, action, before, of = placed }, at) => {
    // One table, one name, whatever the shape in which it was sent.
    const { resource } = of.newer ?? of;
    const id = before === null ? (kind === "create" ? idMadeBy(transaction, at) : null) : (before.record["id"] as Key);
    const write: RecordWrite = { resource, kind, action, id, deletedWith: null, cause };
    for (const each of [write, ...deletedWith(of.newer ?? of, write, before)])
      for (const changesFor of alongside) more.push(...atOnce(changesFor(each), "alongside"));
  });
  return { ...transaction, changes: [...transaction.changes, ...more] };
}

/** The records that the database deletes with a record: one write for each resource, because the database alone knows which they are. */
function deletedWith(
  of: MountInPlace,
  { resource, kind, cause }: RecordWrite,
  before: Row | null,
): readonly RecordWrite[] {
  if (kind !== "delete" || before === null) return [];
  const parent = { resource, id: before.record["id"] as Key };
  return cascadesFrom(of).map((each) => {
    return { resource: each.resource, kind, action: null, id: null, deletedWith: parent, cause };
  });
}

/** The id of the record that a change of a transaction makes: the one that is given to it, or what stands for the one that the store will give. */
function idMadeBy({ changes }: Transaction, at: number): Key | KeyOf {
  const change = changes[at];
  const given = change?.kind === "insert" ? change.key : undefined;
  return typeof given === "string" ? given : keyOf(at);
}

/** What is told is done already: a hook that fails is a fault, and the caller's answer is the same. */
function tell(
  afterWrite: NonNullable<MountInPlace["afterWrite"]>,
  exchange: Exchange,
  { kind, action, before }: Writing,
  left: Row | null,
): void {
  const isAboutNone = kind === "action" && before === null;
  const after = kind === "delete" || isAboutNone ? null : left;
  const id = isAboutNone ? null : idOf(before ?? after);
  const observeFault = (error: unknown): void =>
    exchange.service.observe?.({ kind: "fault", requestId: exchange.call.requestId, error: toldFault(error) });
  try {
    const told: unknown = afterWrite({
      kind,
      action,
      id,
      before: before === null ? null : copyOf(before),
      after: after === null ? null : copyOf(after),
      cause: exchange.cause,
    });
    if (told instanceof Promise) told.catch(observeFault);
  } catch (error) {
    observeFault(error);
  }
}

function idOf(row: Row | null): Key | null {
  return row === null ? null : (row.record["id"] as Key);
}

/** What is told is the hook's own: whatever it does with it, the answer shows what was written. */
function copyOf(row: Row): StoredOf<Resource> {
  return copyOfJSON(storedOf(row));
}

/** A record of the store has an id, whatever else it has. */
export function storedOf({ record }: Row): StoredOf<Resource> {
  return record as StoredOf<Resource>;
}

/** Whether somebody else was faster, and the write is to be made anew on what is there now. */
export function isOvertaken(outcome: Unwritten, { call }: Exchange): boolean {
  if (outcome.kind === "refused") return outcome.name === OVERTAKEN;
  if (outcome.kind !== "stale" && outcome.kind !== "missing") return false;
  // The caller's precondition is about the record; what else belongs to the write may have changed all the same.
  return outcome.change > 0 || call.header("if-match") === undefined;
}

/** What a repeat of a change is answered. */
export async function replayed(placed: MountInPlace, exchange: Exchange, row: Row): Promise<Reply> {
  const reply = isErased(placed, row) ? { status: 204 } : await showChanged(placed, exchange, row);
  return { ...reply, headers: [REPLAYED] };
}

/** What was written is gone, and everything that told of it with it: a repeat learns that it was one. */
export function isErased({ sources }: MountInPlace, { record }: Row): boolean {
  return sources.some((name) => !Object.hasOwn(record, name));
}
