import type { Reply } from "../../../core/call/call.ts";
import { isObject } from "../../../core/checking/members.ts";
import { parseETags, sameStrong, type ETags } from "../../../core/headers/etag.ts";
import { problem, type Problem } from "../../../core/problem/problem.ts";
import { type Draft } from "../../../resource/draft.ts";
import { parseId, type IdKind } from "../../../resource/ids.ts";
import type { Change, Idempotency, Key, Row, Where, WrittenValues } from "../../../store/store.ts";
import { stateIn } from "../../answer/tags.ts";
import { invalid, type Exchange } from "../../exchange.ts";
import type { MountInPlace } from "../mount.ts";
import { decisionOn, mayReadChanged, requireParents, visible, within } from "../reads/reading.ts";
import { isOvertaken, storedOf, untilSettled } from "./committing.ts";
import { merged, noteGoing, readSent, unseenFields } from "./drafting.ts";
import { answerOnce, repeatable } from "./idempotency.ts";
import { isOldTag, requireCollectionAsKnown, tagsOfState } from "./preconditions.ts";
import { furtherChanges, prepare, requireAllowed } from "./preparing.ts";
import {
  commitParts,
  inOrder,
  notFound,
  readEach,
  refusalOf,
  requireMembers,
  showAll,
  stale,
  told,
  type PreparedPart,
} from "./several.ts";

/** A change of one record, as it was sent (RFC 7396). */
interface Patch {
  readonly at: number;
  readonly id: Key;
  /** Null: whatever its state is. */
  readonly ifMatch: ETags | null;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A patch, and the record that it is for. */
interface Found {
  readonly patch: Patch;
  /** Null: there is none that the caller may change. */
  readonly row: Row | null;
  readonly only: Where | null;
}

/** PATCH of a collection with an array: all of its records are changed, or none. */
export async function updateAll(placed: MountInPlace, exchange: Exchange): Promise<Reply> {
  const members = requireMembers(exchange.body?.value);
  const taken = new Set<Key>();
  const patches = await readEach(members, (member, at) => readPatch(member, at, taken, placed.resource.id));
  for (const { value } of patches) noteGoing(placed.resource, exchange.context, value);
  const idempotency = repeatable(placed, exchange, members.length);
  return answerOnce(exchange, idempotency, {
    async anew() {
      if (placed.requireIfMatch) requireTags(patches);
      await requireParents(placed, exchange);
      return untilSettled(placed, exchange, () => attempt(placed, exchange, patches, idempotency));
    },
    again: ({ rows }) => shown(placed, exchange, patches, rows, true),
  });
}

/** Gives null where a record changed meanwhile whose state the caller did not say. */
async function attempt(
  placed: MountInPlace,
  exchange: Exchange,
  patches: readonly Patch[],
  idempotency: Idempotency | null,
): Promise<Reply | null> {
  const found = await findAll(placed, exchange, patches);
  const unseen = await unseenOf(placed, exchange, found);
  const drafts = await readEach(found, (each, at) => {
    const refused = unseen[at] ?? null;
    if (refused !== null) throw refused;
    return readChange(placed, exchange, each);
  });
  const missing = found.filter(({ row }) => row === null);
  if (missing.length > 0) throw notFound(missing.map(({ patch }) => patch.at));
  const prepared = await inOrder(found, (each, at) => preparePart(placed, exchange, each, drafts[at]!));
  await requireCollectionAsKnown(placed, exchange);
  requireStates(placed, exchange, found);
  const parts = await inOrder(prepared, (complete) => complete());
  // In one order, so that two such writes do not wait for each other.
  const sorted = parts.toSorted((one, other) => (patches[one.at]!.id < patches[other.at]!.id ? -1 : 1));
  const { outcome, owners } = await commitParts(placed, exchange, sorted, idempotency);
  if (outcome.kind === "written" || outcome.kind === "replayed")
    return shown(placed, exchange, patches, outcome.rows.slice(0, parts.length), outcome.kind === "replayed");
  const isMeant =
    "change" in outcome && outcome.change < parts.length && patches[owners[outcome.change]!]!.ifMatch !== null;
  if (!isMeant && isOvertaken(outcome, exchange)) return null;
  throw refusalOf(outcome, placed, exchange, { owners, count: parts.length });
}

/** Reads one member. `taken` are the ids of those before it. */
function readPatch(member: unknown, at: number, taken: Set<Key>, kind: IdKind): Patch {
  if (!isObject(member))
    throw invalid([{ pointer: "", code: "invalid", detail: "An object with an id and what changes is required." }]);
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
  const ifMatch = typeof tags === "string" ? parseETags(tags) : null;
  if (tags !== undefined && ifMatch === null)
    throw wrong("/if_match", "invalid", "A text like that of If-Match is required: an ETag in its quotes, or *.");
  return { at, id, ifMatch, value };
}

/** Ends the request where a record comes without the state that it is meant for. */
function requireTags(patches: readonly Patch[]): void {
  const without = patches.filter(({ ifMatch }) => ifMatch === null);
  const detail = "The state that is meant is required.";
  const issues = without.map(({ at }) => ({ pointer: `/${at}/if_match`, code: "required", detail }));
  if (issues.length > 0) throw problem("precondition_required", { issues });
}

/** The records by one question, as far as this caller may change them. */
async function findAll(placed: MountInPlace, exchange: Exchange, patches: readonly Patch[]): Promise<readonly Found[]> {
  const { collection } = placed;
  const ids = patches.map(({ id }) => id);
  const rows = await exchange.service.store.list({
    collection,
    where: { column: "id", operator: "in", value: ids },
    sort: [{ column: "id" }],
    limit: ids.length,
  });
  const byId = new Map(rows.map((row) => [row.record["id"], row]));
  return patches.map((patch) => {
    const row = byId.get(patch.id) ?? null;
    const decision = decisionOn(placed, exchange, "update", patch.id);
    const only = typeof decision === "string" ? null : decision.only;
    return { patch, row: decision === "deny" ? null : visible(placed, within(row, placed, exchange), { only }), only };
  });
}

/** What each patch is refused with where its caller may not read the records. */
async function unseenOf(
  placed: MountInPlace,
  exchange: Exchange,
  found: readonly Found[],
): Promise<readonly (Problem | null)[]> {
  const unseen = found.map(({ patch, row }) => (row === null ? null : unseenFields(placed.resource, patch.value)));
  if (unseen.every((each) => each === null)) return [];
  const rows = found.flatMap(({ row }) => (row === null ? [] : [row]));
  return (await mayReadChanged(placed, exchange, rows)) ? [] : unseen;
}

/** What a patch makes of its record. Where there is none, the patch alone is looked at. */
function readChange(placed: MountInPlace, { context }: Exchange, { patch, row }: Found): Draft {
  const { id, value } = patch;
  if (row === null) return readSent(placed, context, value, { id, record: null, partial: true });
  const { record } = row;
  return readSent(placed, context, merged(placed.show(record), value), { id, record });
}

function preparePart(
  placed: MountInPlace,
  exchange: Exchange,
  { patch, row, only }: Found,
  draft: Draft,
): Promise<PreparedPart> {
  const { at, id } = patch;
  const { collection } = placed;
  const before = row!;
  return told(at, async () => {
    const { context } = exchange;
    const prepared = await prepare(placed, { kind: "update", context, id, current: storedOf(before), draft });
    const values = { ...draft.values, ...prepared.values } as WrittenValues;
    requireAllowed(placed, { only }, { ...before.record, ...values });
    const own: Change = { kind: "update", collection, key: id, values, revision: before.revision };
    const written = { id, before: before.record, values };
    return async () => {
      const further = await told(at, () => furtherChanges(prepared, placed, exchange, written));
      return { at, own, further, writing: { kind: "update", action: null, before } };
    };
  });
}

/** Ends the request where a record is in another state than was said of it. */
function requireStates(placed: MountInPlace, exchange: Exchange, found: readonly Found[]): void {
  const others = found.filter(({ patch: { ifMatch }, row }) => {
    if (ifMatch === null || ifMatch === "*") return false;
    const isOld = ifMatch.length === 1 && isOldTag(ifMatch[0]!.quoted);
    const tags = tagsOfState(placed, exchange, row!, isOld);
    return !tags.some((tag) => ifMatch.some(({ weak, quoted }) => sameStrong({ weak, quoted: stateIn(quoted) }, tag)));
  });
  if (others.length > 0) throw stale(others.map(({ patch }) => patch.at));
}

/** What is told of them, in the order of the array. Whoever may change a record and not read it is shown nothing of any. */
async function shown(
  placed: MountInPlace,
  exchange: Exchange,
  patches: readonly Patch[],
  written: readonly (Row | null)[],
  isReplay: boolean,
): Promise<Reply> {
  const byId = new Map(written.map((row) => [row!.record["id"], row!]));
  const rows = patches.map(({ id }) => byId.get(id)!);
  const reply = showAll(placed, exchange, rows, { status: 200, isReplay });
  const mayRead = await mayReadChanged(placed, exchange, rows);
  return mayRead || reply.body === undefined ? reply : { status: 204, headers: reply.headers ?? [] };
}
