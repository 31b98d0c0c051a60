import type { Reply } from "../../../core/call/call.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { Change, Idempotency, Key, Narrowing, Row, WrittenValues } from "../../../store/store.ts";
import { askLimitersOfArray } from "../../answer/admitting.ts";
import { countLinkRows } from "../../declarations/links.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";
import { mayReadChanged, mayReadEach, mayReadWithin, requireParents } from "../reads/reading.ts";
import { requireFewRecords } from "./change-limit.ts";
import { isOvertaken, toStoredRecord, untilSettled, isMaybeUnseen } from "./committing.ts";
import { noteDeprecated, parseMergedDraft, unseenFields } from "./drafting.ts";
import { answerOnce, repeatable } from "./idempotency.ts";
import { loadStoredRows } from "./kept-arrays.ts";
import { requireKnownAfterHook, requireKnownMember } from "./known-users.ts";
import { ReadOctets, readRecords } from "./large-reads.ts";
import { collectStale, findKnown, refusalBefore, type PatchTarget } from "./patch-targets.ts";
import { namesStates, readPatch, requireTags, type Patch } from "./patches.ts";
import { requireCollectionAsKnown } from "./preconditions.ts";
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
  runAtIndex,
  withoutRecords,
  type PreparedPart,
} from "./record-arrays.ts";
import { replay } from "./replaying.ts";

/** A patch, its record, and the draft that the patch results in. */
interface Drafted {
  readonly patch: Patch;
  readonly row: Row;
  readonly only: Narrowing | null;
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
