import { decideOn } from "../../../access/permission/decision.ts";
import type { Reply } from "../../../core/call/call.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { Problem, problem } from "../../../core/problem/problem.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { Change, Idempotency, Row, StoredRecord, WrittenValues } from "../../../store/store.ts";
import { withoutBody } from "../../answer/writing.ts";
import { withAllFields } from "../../declarations/mount.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import {
  findVisible,
  mayReadChanged,
  mayReadCreated,
  reachesEveryRow,
  requireParents,
  showChanged,
  showRow,
  refuseRow,
  isForbidden,
  forbidden,
} from "../reads/reading.ts";
import { seenAt } from "../seen-by.ts";
import {
  commit,
  commitAll,
  isErased,
  isOvertaken,
  isUnmet,
  REPLAYED,
  replayed,
  toStoredRecord,
  untilSettled,
  isMaybeUnseen,
} from "./committing.ts";
import { createAll } from "./creating-all.ts";
import { requirePatch, requireRecordDraft, unseenFields, type Patch } from "./drafting.ts";
import { foundingRefusal, prepareFounding, type Founded } from "./founding.ts";
import { answerOnce, storedWith, repeatable, withRepeats } from "./idempotency.ts";
import { issue, showIssued } from "./issuing.ts";
import { requireKnownAfterHook, requireKnownMember } from "./known-users.ts";
import { refusal, type Unwritten } from "./outcome.ts";
import { requireCollectionAsKnown, requireNothingThere, requirePreconditions } from "./preconditions.ts";
import { furtherChanges, madeId, prepare, requireAllowed, buildValues, sentValues } from "./preparing.ts";
import { replay } from "./replaying.ts";
import { commitRemoval } from "./unlisting.ts";

/** Answers POST to a collection. */
export async function create(mount: ServedMount, exchange: Exchange): Promise<Reply> {
  if (mount.arrays && Array.isArray(exchange.body?.value)) return createAll(mount, exchange, exchange.body.value);
  const idempotency = repeatable(mount, exchange);
  return answerOnce(exchange, idempotency, {
    perform: () => createRecord(mount, exchange, idempotency),
    replay: ({ rows }) => repeatCreation(mount, exchange, rows[0]!),
  });
}

async function createRecord(mount: ServedMount, exchange: Exchange, idempotency: Idempotency | null): Promise<Reply> {
  const draft = requireRecordDraft(mount, exchange.context, { id: null, record: null });
  return untilSettled(mount, exchange, () => insertRecord(mount, exchange, draft, idempotency));
}

/** Makes one attempt. Returns null if a membership that allowed the write was removed in the meantime. */
async function insertRecord(
  mount: ServedMount,
  exchange: Exchange,
  draft: Draft<Resource, "made">,
  idempotency: Idempotency | null,
): Promise<Reply | null> {
  await requireParents(mount, exchange);
  const { collection } = mount;
  const id = madeId(mount, exchange);
  await requireKnownMember(mount, exchange, { before: null, values: draft.values }, async () => {
    await requireAllowed(mount, exchange, sentValues(mount, exchange, draft));
    await requireCollectionAsKnown(mount, exchange);
  });
  const prepared = await prepare(mount, { kind: "create", context: exchange.context, id, current: null, draft });
  const values = buildValues(mount, exchange, draft, prepared);
  await requireAllowed(mount, exchange, values);
  await requireKnownAfterHook(mount, exchange, { draft, prepared });
  const founding = await prepareFounding(mount, exchange, id);
  await requireCollectionAsKnown(mount, exchange);
  const issued = issue(mount, exchange, id, values);
  const insert: Change = { kind: "insert", collection, ...(id === null ? {} : { key: id }), values: issued.values };
  const further = await furtherChanges(prepared, mount, exchange, { id, before: null, values });
  const founded = await founding(1 + further.length);
  const stored = storedWith(idempotency, [{ id: 0, ...values }]);
  const transaction = withRepeats(exchange, [insert, ...further, ...founded.changes], stored);
  const outcome = await commitAll(mount, exchange, transaction, [creation, ...founded.writings]);
  if (isUnmet(outcome)) return null;
  if (outcome.kind !== "written" && outcome.kind !== "replayed")
    throw creationRefusal(outcome, mount, exchange, founded);
  if (outcome.kind === "replayed") return repeatCreation(mount, exchange, outcome.rows[0]!);
  const [row] = outcome.rows;
  const reply = created(mount, exchange, row!, false);
  // The value that is shown once belongs to the caller, so its record is shown too.
  return issued.shown === null ? showCreated(mount, exchange, row!, reply) : showIssued(exchange, reply, issued.shown);
}

const creation = { kind: "create", action: null, before: null } as const;

/** Returns the problem for a record that the store refused, perhaps because of the membership of its founder. */
function creationRefusal(outcome: Unwritten, mount: ServedMount, exchange: Exchange, { changes, at }: Founded): Error {
  const isOfFounder = "change" in outcome && outcome.change >= at && outcome.change < at + changes.length;
  return isOfFounder ? foundingRefusal(mount, outcome, exchange) : refusal(outcome, mount, exchange);
}

function repeatCreation(mount: ServedMount, exchange: Exchange, row: Row): Promise<Reply> {
  return replay(mount, exchange, [row], () => created(mount, exchange, row, true));
}

function created(mount: ServedMount, exchange: Exchange, row: Row, isReplay: boolean): Reply {
  const path = exchange.call.path.replace(/\/$/, "");
  const id = encodeURIComponent(String(row.record["id"]));
  const location = path.endsWith(`/${id}`) && exchange.params["id"] !== undefined ? path : `${path}/${id}`;
  const headers = [["Location", location], ...(isReplay ? [REPLAYED] : [])] as const;
  if (isErased(mount, row)) return { status: 201, headers };
  return { ...showRow(mount, exchange, row), status: 201, cache: "private", headers };
}

/** A caller who may create a record but not read it sees nothing of it. */
function showCreated(mount: ServedMount, exchange: Exchange, row: Row, reply: Reply): Eventually<Reply> {
  return after(mayReadCreated(mount, exchange, [row]), (may) => (may ? reply : withoutBody(reply)));
}

/** Answers PUT of one record. Replaces the record, or creates it if it does not exist and the caller may create it. */
export async function replace(mount: ServedMount, exchange: Exchange): Promise<Reply> {
  return untilSettled(mount, exchange, async () => {
    const row = await findVisible(mount, exchange);
    return row === null ? createUnder(mount, exchange) : replaceRow(mount, exchange, row);
  });
}

async function createUnder(replaced: ServedMount, exchange: Exchange): Promise<Reply | null> {
  const mount = seenAt(withAllFields(replaced), exchange, { isNew: true });
  const { context } = exchange;
  const id = exchange.key();
  const draft = requireRecordDraft(mount, context, { id, record: null });
  if (await isForbidden(mount, exchange)) throw forbidden(exchange);
  requireMayCreate(mount, exchange);
  await requireParents(mount, exchange);
  await requireKnownMember(mount, exchange, { before: null, values: draft.values }, async () => {
    await requireAllowed(mount, exchange, { id, ...sentValues(mount, exchange, draft) });
    requireNothingThere(exchange);
  });
  const prepared = await prepare(mount, { kind: "create", context, id, current: null, draft });
  const values = buildValues(mount, exchange, draft, prepared);
  await requireAllowed(mount, exchange, { id, ...values });
  await requireKnownAfterHook(mount, exchange, { draft, prepared });
  const founding = await prepareFounding(mount, exchange, id);
  requireNothingThere(exchange);
  const insert: Change = { kind: "insert", collection: mount.collection, key: id, values };
  const further = await furtherChanges(prepared, mount, exchange, { id, before: null, values });
  const founded = await founding(1 + further.length);
  const transaction = { changes: [insert, ...further, ...founded.changes] };
  const outcome = await commitAll(mount, exchange, transaction, [creation, ...founded.writings]);
  if (outcome.kind === "written" || outcome.kind === "replayed")
    return showCreated(mount, exchange, outcome.rows[0]!, created(mount, exchange, outcome.rows[0]!, false));
  if (outcome.kind === "taken" && outcome.change === 0 && outcome.column === "id") {
    if ((await findVisible(mount, exchange)) === null) throw await unseenKey(mount, exchange, outcome);
    // Another request has created the record first. With `If-None-Match: *`, this request fails. Without it, this
    // request replaces the record.
    if (exchange.call.header("if-none-match") !== undefined) throw problem("precondition_failed");
    return null;
  }
  if (isUnmet(outcome)) return null;
  throw creationRefusal(outcome, mount, exchange, founded);
}

/**
 * Returns the problem for an id that is taken, but not by a record that this path shows: 404 if the record has another
 * parent, 409 if the database treats the key of another record as equal (`citext`).
 */
async function unseenKey(mount: ServedMount, exchange: Exchange, outcome: Unwritten): Promise<Error> {
  const isBelowOther =
    mount.parent !== null && (await exchange.service.store.find(mount.collection, exchange.key())) !== null;
  return isBelowOther ? problem("not_found") : refusal(outcome, mount, exchange);
}

/**
 * Ends the request with 404 if the caller may not see every row. Such a caller could choose ids and learn from the
 * response which hidden ids exist.
 */
function requireMayCreate(mount: ServedMount, exchange: Exchange): void {
  if (!reachesEveryRow(mount, exchange)) throw problem("not_found");
  const { create } = mount.permissions;
  const { identity, params, now } = exchange;
  const request = { identity, action: "create", params, now } as const;
  if (create === undefined || decideOn(create, request, mount) !== "allow") throw problem("not_found");
}

async function replaceRow(mount: ServedMount, exchange: Exchange, row: Row): Promise<Reply | null> {
  const mayRead = await requireSeen(mount, exchange, row, unseenFields(mount.resource, exchange.body?.value));
  const hidden = mayRead ? {} : { hidden: new Set<string>() };
  const draft = requireRecordDraft(mount, exchange.context, { id: exchange.key(), record: row.record, ...hidden });
  return change(mount, exchange, row, { kind: "replace", draft, idempotency: null });
}

/**
 * Answers PATCH of one record. Applies the patch to the representation that callers see, and parses the result as a
 * complete record.
 */
export async function update(mount: ServedMount, exchange: Exchange): Promise<Reply> {
  const idempotency = repeatable(mount, exchange);
  return answerOnce(exchange, idempotency, {
    perform: () => updateRecord(mount, exchange, idempotency),
    replay: ({ rows }) => replayed(mount, exchange, rows[0]!),
  });
}

async function updateRecord(mount: ServedMount, exchange: Exchange, idempotency: Idempotency | null): Promise<Reply> {
  const patch = requirePatch(mount, exchange.context, exchange.key());
  return untilSettled(mount, exchange, async () => {
    const row = await findVisible(mount, exchange);
    if (row === null) {
      patch.requireSound();
      throw await refuseRow(mount, exchange);
    }
    const mayRead = await requireSeen(mount, exchange, row, patch.unseen);
    const draft = await apply(patch, mount, exchange, { row, mayRead });
    return change(mount, exchange, row, { kind: "update", draft, idempotency });
  });
}

/**
 * Returns true if the caller may read the record. If the caller may not, and `unseen` is not null, ends the request
 * with `unseen`: the body would reveal a part of the record.
 */
async function requireSeen(mount: ServedMount, exchange: Exchange, row: Row, unseen: Problem | null): Promise<boolean> {
  const mayRead = await mayReadChanged(mount, exchange, [row]);
  if (unseen !== null && !mayRead) throw unseen;
  return mayRead;
}

/**
 * Applies the patch. If the patch does not apply, checks the preconditions first, because a failed precondition is
 * reported before a patch conflict.
 */
async function apply(
  patch: Patch,
  mount: ServedMount,
  exchange: Exchange,
  { row, mayRead }: { readonly row: Row; readonly mayRead: boolean },
): Promise<Draft> {
  try {
    return await patch.applyTo(row.record, mayRead);
  } catch (error) {
    if (error instanceof Problem && error.code === "patch_conflict") requirePreconditions(mount, exchange, row);
    throw error;
  }
}

interface Changing {
  readonly kind: "replace" | "update";
  readonly draft: Draft;
  readonly idempotency: Idempotency | null;
}

/** Makes one attempt. Returns null if another write changed the record first and the write must be tried again. */
async function change(
  mount: ServedMount,
  exchange: Exchange,
  row: Row,
  { kind, draft, idempotency }: Changing,
): Promise<Reply | null> {
  const { context } = exchange;
  const id = exchange.key();
  await requireKnownMember(mount, exchange, { before: row.record, values: draft.values }, async () => {
    await requireAllowed(mount, exchange, { ...row.record, ...draft.values });
    requirePreconditions(mount, exchange, row);
  });
  const prepared = await prepare(mount, { kind, context, id, current: toStoredRecord(row), draft });
  const values = { ...draft.values, ...prepared.values } as WrittenValues;
  await requireAllowed(mount, exchange, { ...row.record, ...values });
  await requireKnownAfterHook(mount, exchange, { draft, prepared });
  requirePreconditions(mount, exchange, row);
  const update: Change = { kind: "update", collection: mount.collection, key: id, values, revision: row.revision };
  const further = await furtherChanges(prepared, mount, exchange, { id, before: row.record, values });
  const stored = storedWith(idempotency, [{ ...row.record, ...values } as StoredRecord]);
  const transaction = withRepeats(exchange, [update, ...further], stored);
  const outcome = await commit(mount, exchange, transaction, { kind, action: null, before: row });
  if (outcome.kind === "written") return showChanged(mount, exchange, outcome.rows[0]!);
  if (outcome.kind === "replayed") return replayed(mount, exchange, outcome.rows[0]!);
  if (isMaybeUnseen(outcome, mount) || isOvertaken(outcome, exchange)) return null;
  throw refusal(outcome, mount, exchange);
}

/** Answers DELETE of one record. */
export async function remove(mount: ServedMount, exchange: Exchange): Promise<Reply> {
  return untilSettled(mount, exchange, async () => {
    const row = await findVisible(mount, exchange);
    if (row === null) throw await refuseRow(mount, exchange);
    requirePreconditions(mount, exchange, row);
    const { context } = exchange;
    const id = exchange.key();
    const prepared = await prepare(mount, { kind: "delete", context, id, current: toStoredRecord(row), draft: null });
    const removal: Change = { kind: "delete", collection: mount.collection, key: id, revision: row.revision };
    const further = await furtherChanges(prepared, mount, exchange, { id, before: row.record, values: {} });
    const outcome = await commitRemoval(mount, exchange, row, [removal, ...further]);
    if (outcome.kind === "written" || outcome.kind === "replayed") return { status: 204 };
    if (isMaybeUnseen(outcome, mount) || isOvertaken(outcome, exchange)) return null;
    throw refusal(outcome, mount, exchange);
  });
}
