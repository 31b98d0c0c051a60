import type { RowsDecision } from "../../../access/permission/contract.ts";
import type { Reply } from "../../../core/call/call.ts";
import { isObject } from "../../../core/checking/members.ts";
import { listsStrong, parseETags, type ETags } from "../../../core/headers/etag.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import type { IdKind } from "../../../resource/declaration/types.ts";
import { type Draft } from "../../../resource/draft.ts";
import { parseId } from "../../../resource/ids.ts";
import type { Change, Idempotency, Key, Row, Where, WrittenValues } from "../../../store/store.ts";
import { askLimitersOfArray } from "../../answer/admitting.ts";
import { stateIn } from "../../answer/tags.ts";
import { countLinkRows } from "../../declarations/links.ts";
import { withAllFields, hidesValues } from "../../declarations/mount.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { MAX_HEADER_BYTES } from "../../limits.ts";
import { invalid, type Exchange } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";
import { collectColumns } from "../reads/matches.ts";
import { longestOfColumns } from "../reads/page-length.ts";
import {
  decisionOn,
  mayReadChanged,
  mayReadEach,
  mayReadWithin,
  requireParents,
  findWithinParent,
  forbidden,
  decideReading,
} from "../reads/reading.ts";
import { judgeEach, judgeEachChanged, type Judged } from "../reads/settling.ts";
import { requireFewRecords } from "./change-limit.ts";
import { isOvertaken, toStoredRecord, untilSettled, isMaybeUnseen } from "./committing.ts";
import { noteDeprecated, parseMergedDraft, parseRecordDraft, unseenFields, withoutGiven } from "./drafting.ts";
import { answerOnce, repeatable } from "./idempotency.ts";
import { loadStoredRows } from "./kept-arrays.ts";
import { requireKnownAfterHook, requireKnownMember } from "./known-users.ts";
import { findRows, ReadOctets, readRecords } from "./large-reads.ts";
import { isOldTag, requireCollectionAsKnown, tagsOfState } from "./preconditions.ts";
import {
  furtherChanges,
  prepare,
  requireAllowed,
  requireAllowedAlone,
  requireEachAllowed,
  type Resulting,
} from "./preparing.ts";
import {
  commitParts,
  FoundIssues,
  inOrder,
  notFound,
  readEach,
  buildRefusal,
  requireMembers,
  showAll,
  stale,
  runAtIndex,
  withoutRecords,
  type PreparedPart,
} from "./record-arrays.ts";
import { replay } from "./replaying.ts";

/** A change of one record in the request (RFC 7396). */
interface Patch {
  readonly at: number;
  readonly id: Key;
  /** The ETags of `if_match`. Null if any state is accepted. */
  readonly ifMatch: ETags | null;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A patch, and the columns of its record that the permission and the preconditions need. */
interface PatchTarget {
  readonly patch: Patch;
  /** Null if the record does not exist, or if the caller may not change it. */
  readonly row: Row | null;
  readonly only: Where | null;
  /** True if the caller may read the record, but not change it. */
  readonly isForbidden: boolean;
}

/** A patch, its record, and the draft that the patch results in. */
interface Drafted {
  readonly patch: Patch;
  readonly row: Row;
  readonly only: Where | null;
  readonly draft: Draft;
}

/** Answers PATCH of a collection with an array: changes all of its records, or none. */
export async function updateAll(mount: ServedMount, exchange: Exchange): Promise<Reply> {
  const members = requireMembers(exchange.body?.value);
  const taken = new Set<Key>();
  const patches = await readEach(members, (member, at) => readPatch(member, at, taken, mount.resource.id));
  for (const { value } of patches) noteDeprecated(mount.resource, exchange.context, value);
  const idempotency = repeatable(mount, exchange, members.length);
  return answerOnce(exchange, idempotency, {
    async perform() {
      await askLimitersOfArray(exchange, members.length);
      if (mount.requireIfMatch) requireTags(patches);
      return untilSettled(mount, exchange, () => attempt(mount, exchange, patches, idempotency));
    },
    replay: ({ rows }) => repeated(mount, exchange, patches, rows),
  });
}

/** Makes one attempt. Returns null if a record has changed in the meantime and its `if_match` names no state. */
async function attempt(
  mount: ServedMount,
  exchange: Exchange,
  patches: readonly Patch[],
  idempotency: Idempotency | null,
): Promise<Reply | null> {
  await requireParents(mount, exchange);
  const octets = new ReadOctets(exchange, mount);
  const knownRecords = await findKnown(mount, exchange, patches, octets);
  if (knownRecords.some(({ row }) => row === null) || (await collectStale(mount, exchange, knownRecords)).length > 0)
    throw await refusalBefore(mount, exchange, knownRecords);
  const drafted = await draftAll(mount, exchange, knownRecords, octets);
  await requireFewRecords(
    mount,
    drafted.map(({ row, draft: { values } }) => ({ before: row.record, values })),
  );
  const resulting: Resulting[] = [];
  const prepared = await inOrder(drafted, (each) => preparePart(mount, exchange, each, resulting));
  await requireEachAllowed(mount, exchange, resulting);
  await requireCollectionAsKnown(mount, exchange);
  const parts = await inOrder(prepared, (complete) => complete());
  // Sorted by id, so that two concurrent writes of arrays lock the rows in the same order and cannot deadlock.
  const sorted = parts.toSorted((one, other) => (patches[one.at]!.id < patches[other.at]!.id ? -1 : 1));
  const { outcome, owners } = await commitParts(mount, exchange, sorted, { idempotency, octets });
  if (outcome.kind === "written")
    return shown(mount, exchange, patches, outcome.rows.slice(0, parts.length), { isReplay: false });
  if (outcome.kind === "replayed") return repeated(mount, exchange, patches, outcome.rows);
  const isMeant =
    "change" in outcome &&
    outcome.change >= 0 &&
    outcome.change < parts.length &&
    namesStates(patches[owners[outcome.change]!]!);
  if (isMaybeUnseen(outcome, mount) || (!isMeant && isOvertaken(outcome, exchange))) return null;
  throw buildRefusal(outcome, mount, exchange, { owners, count: parts.length });
}

function namesStates({ ifMatch }: Patch): boolean {
  return ifMatch !== null && ifMatch !== "*";
}

/** Parses one member of the array. `taken` contains the ids of the earlier members. */
function readPatch(member: unknown, at: number, taken: Set<Key>, kind: IdKind): Patch {
  if (!isObject(member))
    throw invalid([
      { pointer: "", code: "invalid", detail: "An object with the id and the changed fields is required." },
    ]);
  const { id, if_match: tags, ...value } = member;
  const wrong = (pointer: string, code: string, detail: string): Error => invalid([{ pointer, code, detail }]);
  if (id === undefined) throw wrong("/id", "required", "The id of the record is required.");
  if ((typeof id !== "number" && typeof id !== "string") || parseId(String(id), kind) !== id)
    throw wrong(
      "/id",
      "invalid",
      `The id of a record is a ${kind === "uuid" ? "UUID in lower case" : "whole number from 1"}.`,
    );
  if (taken.has(id)) throw wrong("/id", "repeated", "The record is named twice.");
  taken.add(id);
  if (typeof tags === "string" && tags.length > MAX_HEADER_BYTES)
    throw wrong("/if_match", "too_long", `At most ${MAX_HEADER_BYTES} characters are allowed, as in a header block.`);
  const ifMatch = typeof tags === "string" ? parseETags(tags) : null;
  if (tags !== undefined && ifMatch === null)
    throw wrong("/if_match", "invalid", "A text like that of If-Match is required: an ETag in its quotes, or *.");
  return { at, id, ifMatch, value };
}

/** Ends the request if a record has no `if_match`. */
function requireTags(patches: readonly Patch[]): void {
  const without = patches.filter(({ ifMatch }) => ifMatch === null);
  const detail = "The ETag of the record is required, as in If-Match.";
  const issues = without.map(({ at }) => ({ pointer: `/${at}/if_match`, code: "required", detail }));
  if (issues.length > 0) throw problem("precondition_required", { issues });
}

/** Reads the rows that this caller may change, only with the columns that the permission and the preconditions need. */
async function findKnown(
  mount: ServedMount,
  exchange: Exchange,
  patches: readonly Patch[],
  octets: ReadOctets,
): Promise<readonly PatchTarget[]> {
  const { collection, resource, newer, noted } = mount;
  const decisions = await inOrder(patches, async ({ id }) => decisionOn(mount, exchange, "update", id));
  // Only a caller who may not change every record can meet one that may only be read.
  const readings = await inOrder(patches, async ({ id }, at) =>
    decisions[at] === "allow" ? "deny" : decideReading(mount, exchange, id),
  );
  const narrowed = [...decisions, ...readings].flatMap((each) =>
    typeof each === "string" ? [] : collectColumns(collection, each.only),
  );
  const needed = [...(resource.parentColumn === null ? [] : [resource.parentColumn]), ...narrowed];
  const tagged = noted !== undefined || hidesValues(mount) ? (newer ?? mount).sources : [];
  const columns = [...new Set(["id", ...needed, ...tagged])];
  const longest = longestOfColumns(withAllFields(newer ?? mount).resource, columns);
  const ids = patches.flatMap(({ id }, at) => (decisions[at] === "deny" && readings[at] === "deny" ? [] : [id]));
  const rows = await findRows(exchange, { collection, columns, longest }, ids, octets);
  const found = patches.map(({ id }) => findWithinParent(rows.get(id) ?? null, mount, exchange));
  const areChanged = await judgeEachChanged(mount, exchange, withDecisions(found, decisions));
  const areRead = await judgeEach(
    mount,
    exchange,
    withDecisions(found, readings, (at) => !areChanged[at]!),
  );
  return patches.map((patch, at) => {
    const decision = decisions[at]!;
    const only = typeof decision === "string" ? null : decision.only;
    return { patch, row: areChanged[at]! ? found[at]! : null, only, isForbidden: areRead[at]! };
  });
}

/** Returns rows with their decisions. Denies rows that do not exist, and those for which `isAsked` returns false. */
function withDecisions(
  rows: readonly (Row | null)[],
  decisions: readonly RowsDecision[],
  isAsked: (at: number) => boolean = () => true,
): readonly Judged[] {
  return rows.map((row, at) =>
    row === null || !isAsked(at) ? { record: {}, decision: "deny" } : { record: row.record, decision: decisions[at]! },
  );
}

/** Returns the indexes of the records whose `if_match` is false. */
async function collectStale(
  mount: ServedMount,
  exchange: Exchange,
  knownRecords: readonly PatchTarget[],
): Promise<readonly number[]> {
  const others: number[] = [];
  await inTurns(knownRecords, ({ patch: { at, ifMatch }, row }) => {
    if (ifMatch === null || ifMatch === "*" || row === null) return;
    const isOld = ifMatch.length === 1 && isOldTag(ifMatch[0]!.quoted);
    if (!listsStrong(ifMatch, tagsOfState(mount, exchange, row, isOld), stateIn)) others.push(at);
  });
  return others;
}

/**
 * Returns the problem for records that are missing or whose `if_match` is false. Throws the issues of the patches
 * first.
 */
async function refusalBefore(
  mount: ServedMount,
  exchange: Exchange,
  knownRecords: readonly PatchTarget[],
): Promise<Problem> {
  await readEach(knownRecords, ({ patch: { id, value }, row }) => {
    // A field that only the service sets may be sent with its current value. Here the record is not loaded, so the
    // value cannot be compared and the field is ignored.
    const sent = row === null ? value : withoutGiven(mount.resource, value);
    return parseRecordDraft(mount, exchange.context, sent, { id, record: null, partial: true });
  });
  const missing = knownRecords.filter(({ row, isForbidden }) => row === null && !isForbidden);
  if (missing.length > 0) return notFound(missing.map(({ patch }) => patch.at));
  const refused = knownRecords.filter(({ isForbidden }) => isForbidden);
  if (refused.length > 0) throw forbidden(exchange);
  return stale(await collectStale(mount, exchange, knownRecords));
}

/**
 * Reads the records in pieces and applies the patches. If results are invalid, ends the request with the issues of all
 * records.
 */
async function draftAll(
  mount: ServedMount,
  exchange: Exchange,
  knownRecords: readonly PatchTarget[],
  octets: ReadOctets,
): Promise<readonly Drafted[]> {
  const byId = new Map<unknown, PatchTarget>(knownRecords.map((each) => [each.patch.id, each]));
  const ids = knownRecords.map(({ patch }) => patch.id);
  const drafted: Drafted[] = [];
  const found = new FoundIssues();
  for await (const records of readRecords(exchange, mount, ids, octets)) {
    const rows = records.map((record): Row => ({ revision: byId.get(record["id"])!.row!.revision, record }));
    const mayReadRows = await mayReadEach(mount, exchange, rows);
    const isWithinRead = await mayReadWithin(mount, exchange);
    await inTurns(rows, async (row, at) => {
      const { patch, only } = byId.get(row.record["id"])!;
      await found.collect(patch.at, async () => {
        const mayRead = mayReadRows[at]! && isWithinRead;
        drafted.push({ patch, row, only, draft: await readChange(mount, exchange, patch, { row, mayRead }) });
      });
    });
  }
  found.end();
  const read = new Set(drafted.map(({ patch }) => patch.id));
  const gone = knownRecords.filter(({ patch }) => !read.has(patch.id));
  if (gone.length > 0) throw notFound(gone.map(({ patch }) => patch.at));
  return drafted.toSorted((one, other) => one.patch.at - other.patch.at);
}

/** Applies a patch to its record. */
async function readChange(
  mount: ServedMount,
  exchange: Exchange,
  { id, value }: Patch,
  { row, mayRead }: { readonly row: Row; readonly mayRead: boolean },
): Promise<Draft> {
  const refused = mayRead ? null : unseenFields(mount.resource, value);
  if (refused !== null) throw refused;
  return parseMergedDraft(mount, exchange.context, value, { id, record: row.record, mayRead });
}

function preparePart(
  mount: ServedMount,
  exchange: Exchange,
  { patch: { at, id }, row: before, only, draft }: Drafted,
  resulting: Resulting[],
): Promise<PreparedPart> {
  const { collection } = mount;
  return runAtIndex(at, async () => {
    const { context } = exchange;
    await requireKnownMember(mount, exchange, { before: before.record, values: draft.values }, async () => {
      await requireAllowed(mount, exchange, { ...before.record, ...draft.values }, only);
      await requireCollectionAsKnown(mount, exchange);
    });
    const prepared = await prepare(mount, { kind: "update", context, id, current: toStoredRecord(before), draft });
    const values = { ...draft.values, ...prepared.values } as WrittenValues;
    const result: Resulting = { record: { ...before.record, ...values }, only };
    requireAllowedAlone(mount, exchange, result);
    resulting.push(result);
    await requireKnownAfterHook(mount, exchange, { draft, prepared });
    const own: Change = { kind: "update", collection, key: id, values, revision: before.revision };
    const written = { id, before: before.record, values };
    return async () => {
      const further = await runAtIndex(at, () => furtherChanges(prepared, mount, exchange, written));
      const linkRows = countLinkRows(mount.links, written);
      return { at, own, further, linkRows, writing: { kind: "update", action: null, before } };
    };
  });
}

/** Answers a repeated request. */
async function repeated(
  mount: ServedMount,
  exchange: Exchange,
  patches: readonly Patch[],
  storedRows: readonly (Row | null)[],
): Promise<Reply> {
  const rows = await loadStoredRows(mount, exchange, storedRows);
  if (rows === null) return withoutRecords(204);
  return replay(mount, exchange, rows, () => shown(mount, exchange, patches, rows, { isReplay: true }));
}

/**
 * Returns the reply with all records, in the order of the array. If the caller may not read one of them, the reply has
 * no records.
 */
async function shown(
  mount: ServedMount,
  exchange: Exchange,
  patches: readonly Patch[],
  written: readonly (Row | null)[],
  { isReplay }: { readonly isReplay: boolean },
): Promise<Reply> {
  const byId = new Map(written.map((row) => [row!.record["id"], row!]));
  const rows = patches.map(({ id }) => byId.get(id)!);
  const reply = await showAll(mount, exchange, rows, { status: 200, isReplay });
  const mayRead = await mayReadChanged(mount, exchange, rows);
  return mayRead || reply.body === undefined ? reply : { status: 204, headers: reply.headers ?? [] };
}
