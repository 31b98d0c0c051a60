import type { Reply } from "../../../core/call/call.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { Change, Idempotency, Row } from "../../../store/store.ts";
import { askLimitersOfArray } from "../../answer/admitting.ts";
import { countLinkRows } from "../../declarations/links.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { mayReadCreated, requireParents } from "../reads/reading.ts";
import { requireFewRecords } from "./change-limit.ts";
import { isUnmet, untilSettled } from "./committing.ts";
import { noteDeprecated, parseRecordDraft } from "./drafting.ts";
import { prepareFounding } from "./founding.ts";
import { answerOnce, repeatable } from "./idempotency.ts";
import { loadStoredRows } from "./kept-arrays.ts";
import { requireKnownAfterHook, requireKnownMember } from "./known-users.ts";
import { requireCollectionAsKnown } from "./preconditions.ts";
import {
  furtherChanges,
  madeId,
  prepare,
  requireAllowedAlone,
  requireEachAllowed,
  buildValues,
  sentValues,
  requireAllowed,
  type Resulting,
} from "./preparing.ts";
import {
  commitParts,
  inOrder,
  readEach,
  buildRefusal,
  requireMembers,
  showAll,
  runAtIndex,
  withoutRecords,
  type PreparedPart,
} from "./record-arrays.ts";
import { replay } from "./replaying.ts";

/** Answers POST of an array to a collection: creates all of its records, or none. */
export async function createAll(mount: ServedMount, exchange: Exchange, sent: readonly unknown[]): Promise<Reply> {
  const idempotency = repeatable(mount, exchange, sent.length);
  return answerOnce(exchange, idempotency, {
    perform: () => createRecords(mount, exchange, sent, idempotency),
    replay: ({ rows }) => repeated(mount, exchange, rows),
  });
}

async function createRecords(
  mount: ServedMount,
  exchange: Exchange,
  sent: readonly unknown[],
  idempotency: Idempotency | null,
): Promise<Reply> {
  const members = requireMembers(sent);
  await askLimitersOfArray(exchange, members.length);
  const target = { id: null, record: null };
  const drafts = await readEach(members, (member) => {
    noteDeprecated(mount.resource, exchange.context, member);
    return parseRecordDraft(mount, exchange.context, member, target);
  });
  await requireFewRecords(
    mount,
    drafts.map(({ values }) => ({ before: null, values })),
  );
  return untilSettled(mount, exchange, () => attempt(mount, exchange, drafts, idempotency));
}

/** Makes one attempt. Returns null if a membership that allowed the write was removed in the meantime. */
async function attempt(
  mount: ServedMount,
  exchange: Exchange,
  drafts: readonly Draft[],
  idempotency: Idempotency | null,
): Promise<Reply | null> {
  await requireParents(mount, exchange);
  const resulting: Resulting[] = [];
  const prepared = await inOrder(drafts, (draft, at) => preparePart(mount, exchange, draft, { at, resulting }));
  await requireEachAllowed(mount, exchange, resulting);
  await requireCollectionAsKnown(mount, exchange);
  const parts = await inOrder(prepared, (complete) => complete());
  const { outcome, owners, founded } = await commitParts(mount, exchange, parts, { idempotency, octets: null });
  if (outcome.kind === "replayed") return repeated(mount, exchange, outcome.rows);
  if (isUnmet(outcome)) return null;
  if (outcome.kind !== "written")
    throw buildRefusal(outcome, mount, exchange, { owners, founded, count: parts.length });
  const rows = outcome.rows.slice(0, parts.length).map((row) => row!);
  if (!(await mayReadCreated(mount, exchange, rows))) return { status: 201 };
  return showAll(mount, exchange, rows, { status: 201, isReplay: false });
}

async function repeated(mount: ServedMount, exchange: Exchange, storedRows: readonly (Row | null)[]): Promise<Reply> {
  const rows = await loadStoredRows(mount, exchange, storedRows);
  if (rows === null) return withoutRecords(201);
  return replay(mount, exchange, rows, () => showAll(mount, exchange, rows, { status: 201, isReplay: true }));
}

/** Prepares a record of the array, and adds it to `resulting`. */
async function preparePart(
  mount: ServedMount,
  exchange: Exchange,
  read: Draft,
  { at, resulting }: { readonly at: number; readonly resulting: Resulting[] },
): Promise<PreparedPart> {
  // The draft of a new record is complete: it was read without an existing record.
  const draft = read as Draft<Resource, "made">;
  const { context } = exchange;
  const id = madeId(mount, exchange);
  return runAtIndex(at, async () => {
    await requireKnownMember(mount, exchange, { before: null, values: draft.values }, async () => {
      await requireAllowed(mount, exchange, sentValues(mount, exchange, draft));
      await requireCollectionAsKnown(mount, exchange);
    });
    const prepared = await prepare(mount, { kind: "create", context, id, current: null, draft });
    const values = buildValues(mount, exchange, draft, prepared);
    const result: Resulting = { record: values, only: exchange.only };
    requireAllowedAlone(mount, exchange, result);
    resulting.push(result);
    await requireKnownAfterHook(mount, exchange, { draft, prepared });
    const founding = await prepareFounding(mount, exchange, id);
    const own: Change = { kind: "insert", collection: mount.collection, ...(id === null ? {} : { key: id }), values };
    return async () => {
      const written = { id, before: null, values };
      const further = await runAtIndex(at, () => furtherChanges(prepared, mount, exchange, written));
      const founded = await founding(1 + further.length);
      return {
        at,
        own,
        further: [...further, ...founded.changes],
        linkRows: countLinkRows(mount.links, written) + founded.linkRows,
        writing: { kind: "create", action: null, before: null },
        founding: founded.writings,
      };
    };
  });
}
