import type { Reply } from "../../core/call/call.ts";
import {
  isObject,
  isStrange,
  isStrangeToCopy,
  formatMistakes,
  describeType,
  unknownMembers,
} from "../../core/checking/members.ts";
import type { Eventually } from "../../core/eventually.ts";
import { problem, Problem } from "../../core/problem/problem.ts";
import { isStored } from "../../resource/declaration/field.ts";
import { issuesFound, regeneratedValues } from "../../resource/draft.ts";
import type { Resource } from "../../resource/resource.ts";
import type {
  Change,
  Idempotency,
  JSONValue,
  Key,
  Narrowing,
  Row,
  StoredRecord,
  Transaction,
  WrittenValues,
} from "../../store/store.ts";
import type { ActionDraft, RecordCall, ServedAction } from "../declarations/action.ts";
import { requireShowable } from "../declarations/computing.ts";
import { buildLinkChanges } from "../declarations/links.ts";
import { withAllFields } from "../declarations/mount.ts";
import type { ServedMount } from "../declarations/mount.ts";
import { invalid, type Exchange } from "../request/exchange.ts";
import { yieldBetweenSteps } from "../scheduling/slices.ts";
import { findVisible, requireParents, showChanged, refuseRow } from "./reads/reading.ts";
import { commit, isErased, isOvertaken, REPLAYED, untilSettled, isMaybeUnseen } from "./writes/committing.ts";
import { requireDraft } from "./writes/drafting.ts";
import { readGiven, readValue, type MakeFault } from "./writes/given-values.ts";
import { answerOnce, storedWith, repeatable, withRepeats, type Repeated } from "./writes/idempotency.ts";
import { requireKnownMember } from "./writes/known-users.ts";
import { refusal, type Unwritten } from "./writes/outcome.ts";
import { requireCollectionAsKnown, requirePreconditions } from "./writes/preconditions.ts";
import { requireAllowed } from "./writes/preparing.ts";
import { replayAction } from "./writes/replaying.ts";

/** The checked result of an action. */
interface CheckedActionResult {
  readonly values: WrittenValues;
  readonly changes: readonly Change[];
  readonly answer: Readonly<Record<string, JSONValue>> | null;
}

/**
 * Runs an action on a record or on the collection, and returns its reply. A repeated request gets the stored outcome.
 */
export async function act(mount: ServedMount, action: ServedAction, exchange: Exchange): Promise<Reply> {
  const idempotency = action.method === "GET" ? null : repeatable(mount, exchange);
  return answerOnce(exchange, idempotency, {
    perform: () => runAction(mount, action, exchange, idempotency),
    replay: (earlier) => repeat(mount, action, exchange, earlier),
  });
}

async function runAction(
  mount: ServedMount,
  action: ServedAction,
  exchange: Exchange,
  idempotency: Idempotency | null,
): Promise<Reply> {
  const draft = requireActionDraft(action, exchange);
  const attempt = async (): Promise<Reply | null> => {
    const row = await findSubject(mount, action, exchange);
    const done = await ask(mount, action, exchange, { row, draft });
    if (action.method === "GET" || writesNothing(done))
      return buildReply(mount, action, exchange, { row, answer: done.answer });
    const transaction = buildTransaction(mount, action, exchange, { row, done, idempotency });
    const outcome = await commit(mount, exchange, transaction, { kind: "action", action: action.name, before: row });
    if (outcome.kind === "written")
      return buildReply(mount, action, exchange, {
        row: row === null ? null : (outcome.rows[0] ?? null),
        answer: done.answer,
      });
    if (outcome.kind === "replayed") return repeat(mount, action, exchange, outcome);
    if (!isMaybeUnseen(outcome, mount) && !isOvertakenAction(outcome, row, exchange))
      throw refusal(outcome, mount, exchange);
    return null;
  };
  // An action that only reads does not wait for writes.
  return action.method === "GET" ? (await attempt())! : untilSettled(mount, exchange, attempt);
}

/**
 * Returns true if another write changed a row first, so that the action must run again. An action on the collection has
 * no record. It runs again if a row that its own changes depend on has changed or is missing.
 */
function isOvertakenAction(outcome: Unwritten, row: Row | null, exchange: Exchange): boolean {
  if (row === null && (outcome.kind === "stale" || outcome.kind === "missing")) return true;
  return isOvertaken(outcome, exchange);
}

function requireActionDraft({ body, method }: ServedAction, { context }: Exchange): ActionDraft<Resource["fields"]> {
  if (method === "GET") return {};
  const { values, transient } = requireDraft(body, context, { id: null, current: null });
  return { ...values, ...transient };
}

/**
 * Returns the record of the request. Returns null for an action on the collection. Ends the request if the caller may
 * not see the record, or if a precondition fails.
 */
async function findSubject(mount: ServedMount, action: ServedAction, exchange: Exchange): Promise<Row | null> {
  if (action.on === "collection") {
    await requireParents(mount, exchange);
    if (action.method === "POST") await requireCollectionAsKnown(mount, exchange);
    return null;
  }
  const row = await findVisible(mount, exchange);
  if (row === null) throw await refuseRow(mount, exchange);
  if (action.method === "POST") requirePreconditions(mount, exchange, row);
  return row;
}

interface ActionSubject {
  readonly row: Row | null;
  readonly draft: ActionDraft<Resource["fields"]>;
}

async function ask(
  mount: ServedMount,
  action: ServedAction,
  exchange: Exchange,
  { row, draft }: ActionSubject,
): Promise<CheckedActionResult> {
  await yieldBetweenSteps(exchange.body);
  const { context } = exchange;
  const subject: Partial<Pick<RecordCall, "record" | "revision">> =
    row === null
      ? {}
      : { record: withAllFields(mount).show(row.record) as RecordCall["record"], revision: row.revision };
  // Frozen, so that the handler cannot change the record. Such a change would be shown but not stored.
  Object.freeze(subject.record);
  Object.freeze(draft);
  const pending = action.handle({ ...subject, draft, collection: mount.collection, context } as RecordCall);
  const result = await exchange.call.awaiting(() => `The action ${action.name} of ${mount.resource.path}`, pending);
  const done = readDone(mount, action, result ?? {});
  if (row !== null && Object.keys(done.values).length > 0) await requireResult(mount, exchange, row, done.values);
  return done;
}

/**
 * Ends the request if the action results in a record that breaks a rule, that is in a group of others, or that makes a
 * member of a user whom the caller may not read.
 */
async function requireResult(
  mount: ServedMount,
  exchange: Exchange,
  { record: before }: Row,
  values: WrittenValues,
): Promise<void> {
  const record = { ...before, ...values };
  requireRules(mount, record);
  requireShowable(withAllFields(mount), record);
  const { only } = exchange;
  const judge = (): Eventually<void> =>
    only !== null && isMoved(only, before, values) ? requireAllowed(mount, exchange, record) : undefined;
  await requireKnownMember(mount, exchange, { before, values }, judge);
  await judge();
}

/** Returns true if a write changes a column that a condition looks for among memberships. */
function isMoved(where: Narrowing, before: StoredRecord, values: WrittenValues): boolean {
  if ("all" in where) return where.all.some((each) => isMoved(each, before, values));
  if ("any" in where) return where.any.some((each) => isMoved(each, before, values));
  return "among" in where && Object.hasOwn(values, where.column) && values[where.column] !== before[where.column];
}

/** Ends the request if the record breaks a rule between fields. The rules apply to every kind of write. */
function requireRules({ resource }: ServedMount, record: Readonly<Record<string, unknown>>): void {
  const issues = issuesFound(resource, record);
  // With hidden fields, the issues may show their values.
  if (issues.length > 0) throw resource.concealed === undefined ? invalid(issues) : problem("conflict");
}

function writesNothing({ values, changes }: CheckedActionResult): boolean {
  return Object.keys(values).length === 0 && changes.length === 0;
}

interface ActionOutcome {
  readonly row: Row | null;
  readonly done: CheckedActionResult;
  readonly idempotency: Idempotency | null;
}

/**
 * Returns the transaction, which gives the record a new revision even if no value changes. So only one of two
 * concurrent actions on the same state is written.
 */
function buildTransaction(
  mount: ServedMount,
  action: ServedAction,
  exchange: Exchange,
  { row, done: { values, changes, answer }, idempotency }: ActionOutcome,
): Transaction {
  const { resource, collection, personal, repeatColumns: storedColumns, links } = withAllFields(mount);
  const { id } = row?.record ?? {};
  const regenerated = regeneratedValues(resource, exchange.context) as typeof values;
  const own: readonly Change[] =
    row === null
      ? []
      : [{ kind: "update", collection, key: id as Key, values: { ...values, ...regenerated }, revision: row.revision }];
  const linked = row === null ? [] : buildLinkChanges(links, { id: id as Key, before: row.record, values });
  const all = [...own, ...changes, ...linked];
  if (idempotency === null) return { changes: all };
  // A stored answer with personal data must be erased together with its record. The answer of an action on a personal
  // collection belongs to no record, so it is not stored.
  const storesAnswer = answer !== null && (row !== null || !personal);
  const columns = row !== null && action.answer === "record" ? storedColumns : row === null ? [] : ["id"];
  const erasable = idempotency.erasable && row !== null;
  const repeat = { ...idempotency, columns, erasable, ...(storesAnswer ? { answer } : {}) };
  const records = row === null ? [] : [{ ...row.record, ...values } as StoredRecord];
  return withRepeats(exchange, all, storedWith(repeat, records));
}

interface ActionReplyParts {
  readonly row: Row | null;
  readonly answer: CheckedActionResult["answer"];
}

async function buildReply(
  mount: ServedMount,
  action: ServedAction,
  exchange: Exchange,
  { row, answer }: ActionReplyParts,
): Promise<Reply> {
  if (action.answer === "nothing" || (action.answer === "record" && row === null)) return { status: 204 };
  if (action.answer !== "record") return showAnswer(action.answer, answer);
  const path = exchange.call.path.replace(/\/$/, "");
  // The response shows the record itself at its own URL (RFC 9110 §8.7), and the ETag belongs to that representation.
  const headers = [["Content-Location", path.slice(0, path.lastIndexOf("/"))]] as const;
  return { headers, ...(await showChanged(mount, exchange, row!)) };
}

function showAnswer(fields: Resource, answer: CheckedActionResult["answer"]): Reply {
  const jsonMembers = Object.keys(fields.fields).filter((name) => fields.fields[name]!.kind.column.type === "json");
  return { status: 200, body: { kind: "data", value: answer, element: fields.name, jsonMembers } };
}

/**
 * Answers a repeated request like the first one. If the stored answer was erased, the response says only that the
 * request was a repeat.
 */
async function repeat(
  mount: ServedMount,
  action: ServedAction,
  exchange: Exchange,
  { rows, answer }: Repeated,
): Promise<Reply> {
  const row = rows[0] ?? null;
  if (row !== null && action.answer === "record")
    return replayAction(mount, exchange, [row], () => repeatAnswer(mount, action, exchange, { row, answer }));
  return repeatAnswer(mount, action, exchange, { row, answer });
}

async function repeatAnswer(
  mount: ServedMount,
  action: ServedAction,
  exchange: Exchange,
  { row, answer }: { readonly row: Row | null; readonly answer: Repeated["answer"] | undefined },
): Promise<Reply> {
  const isGone =
    typeof action.answer === "string"
      ? action.answer === "record" && (row === null || isErased(mount, row))
      : answer === undefined;
  const reply = isGone
    ? { status: 204 }
    : await buildReply(mount, action, exchange, { row, answer: (answer ?? null) as CheckedActionResult["answer"] });
  return { ...reply, headers: [...(reply.headers ?? []), REPLAYED] };
}

const RESULT = ["values", "changes", "answer"];

/**
 * Checks the result of a handler. If it is invalid, throws a fault before anything is written, because the handler has
 * a bug.
 */
function readDone(mount: ServedMount, action: ServedAction, result: unknown): CheckedActionResult {
  const fault = (what: string): TypeError =>
    new TypeError(`The action ${action.name} of ${mount.resource.path} gave ${formatMistakes([what])}`);
  if (!isObject(result)) throw fault("no object; it has to give { values, changes, answer }, or nothing");
  if (result instanceof Problem) throw fault("a problem; throw it: throw problem(…)");
  if (isStrange(result, RESULT)) throw fault(`${describeType(result)}, which is none of these`);
  const unknown = unknownMembers(result, RESULT);
  if (unknown.length > 0) throw fault(`something unknown: ${unknown.join("; ")}`);
  const { values = {}, changes = [], answer } = result;
  const { fields } = withAllFields(mount).resource;
  if (!isObject(values) || isStrangeToCopy(values, Object.keys(fields)))
    throw fault(`values that are ${isObject(values) ? describeType(values) : "no object"}`);
  if (!Array.isArray(changes) || !changes.every(isObject)) throw fault("changes that are not a list of changes");
  if (action.method === "GET" && (Object.keys(values).length > 0 || changes.length > 0))
    throw fault("a write, but GET changes nothing");
  if (action.on === "collection" && Object.keys(values).length > 0)
    throw fault("values, but an action on the collection has no record for them");
  if (typeof action.answer === "string" && answer !== undefined)
    throw fault("an answer, but declares no fields for it");
  return {
    values: readValues(fields, values, fault),
    changes: changes as unknown as readonly Change[],
    answer: typeof action.answer === "string" ? null : readAnswer(action.answer, answer, fault),
  };
}

function readValues(
  fields: Resource["fields"],
  values: Readonly<Record<string, unknown>>,
  fault: MakeFault,
): WrittenValues {
  const stored = Object.keys(fields).filter((name) => isStored(fields[name]!));
  const unknown = unknownMembers(values, stored);
  if (unknown.length > 0) throw fault(`values for fields that do not exist: ${unknown.join("; ")}`);
  return readGiven(fields, values, fault);
}

function readAnswer({ fields }: Resource, answer: unknown, fault: MakeFault): Readonly<Record<string, JSONValue>> {
  if (!isObject(answer)) throw fault("no answer, but declares fields for it");
  if (isStrange(answer, Object.keys(fields))) throw fault(`an answer that is ${describeType(answer)}`);
  const unknown = unknownMembers(answer, Object.keys(fields));
  if (unknown.length > 0) throw fault(`an answer with unknown fields: ${unknown.join("; ")}`);
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      readValue(name, field, answer[name] ?? null, fault) as JSONValue,
    ]),
  );
}
