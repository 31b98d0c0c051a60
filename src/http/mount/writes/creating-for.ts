import { decideOn } from "../../../access/permission/decision.ts";
import { nobody } from "../../../access/permission/permission.ts";
import type { Reply } from "../../../core/call/call.ts";
import type { Identity } from "../../../core/identity.ts";
import { Problem } from "../../../core/problem/problem.ts";
import { isWritable, type Field } from "../../../resource/declaration/field.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { Resource } from "../../../resource/resource.ts";
import type {
  Change,
  Key,
  Outcome,
  Row,
  Store,
  StoredRecord,
  Transaction,
  WrittenValues,
} from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { Exchange, getExchange, type Context } from "../../request/exchange.ts";
import type { LimitedEndpoint } from "../../request/limiting.ts";
import type { Params } from "../../request/path.ts";
import { requirePermission } from "../../request/permitting.ts";
import { decideReading, mayReadWithin, requireParents, showChanged } from "../reads/reading.ts";
import { judge, judgeEach } from "../reads/settling.ts";
import { seenAt } from "../seen-by.ts";
import { commit } from "./committing.ts";
import { requireDraft, requireRecordDraft } from "./drafting.ts";
import { requireKnownAfterHook, requireKnownMember } from "./known-users.ts";
import { refusal, type Unwritten } from "./outcome.ts";
import { buildValues, furtherChanges, madeId, prepare, requireAllowed } from "./preparing.ts";

/*
 * Creates a record in the name of a user who does not send the request, for example of the sender of an invitation that
 * another user accepts. The rules are those of POST: the permission, the rules of fields and the hooks of the mount.
 */

export type { Unwritten } from "./outcome.ts";

/** A user as the creator of records of a mount. */
export interface Creator {
  /** The mount as this user sees it when creating a record. */
  readonly mount: ServedMount;
  readonly exchange: Exchange;
}

/** The user of a creator, and the parameters of the path of the mount. */
export interface CreatorOptions {
  readonly identity: Identity;
  readonly params: Params;
}

/**
 * An exchange whose caller is another user. Its writes are those of the original request, so that nothing is written
 * after that request has got its answer.
 */
class ExchangeFor extends Exchange {
  readonly #original: Exchange;

  constructor(original: Exchange, endpoint: LimitedEndpoint, { identity, params }: CreatorOptions) {
    super(original.service, original.call, endpoint, params);
    this.#original = original;
    this.identified = { identity, ambient: false, passedOver: [] };
  }

  override write(transaction: Transaction): Promise<Outcome> {
    return this.#original.write({ cause: this.cause, ...transaction });
  }
}

/** Returns an exchange of another user with a mount, for a request that a permission decides on. */
export function makeExchangeFor(
  mount: ServedMount,
  context: Context,
  action: "create" | "read",
  options: CreatorOptions,
): Exchange {
  const access = mount.permissions[action] ?? nobody;
  const method = action === "create" ? "POST" : "GET";
  const endpoint: LimitedEndpoint = { method, path: mount.resource.path, action, access, rows: mount };
  return new ExchangeFor(getExchange(context), endpoint, options);
}

/** Returns the caller as a creator. Ends the request (401, 403) if the permission denies it. */
export function requireCreator(mount: ServedMount, context: Context, options: CreatorOptions): Creator {
  const exchange = makeExchangeFor(mount, context, "create", options);
  requirePermission(exchange);
  return { mount: seenAt(mount, exchange, { isNew: true }), exchange };
}

/** Returns a user as a creator. Returns null if the permission denies it. */
export function findCreator(mount: ServedMount, context: Context, options: CreatorOptions): Creator | null {
  const exchange = makeExchangeFor(mount, context, "create", options);
  const decision = decideOn(mount.permissions.create ?? nobody, exchange.context, mount);
  if (decision === "deny") return null;
  exchange.only = decision === "allow" ? null : decision.only;
  return { mount: seenAt(mount, exchange, { isNew: true }), exchange };
}

/** Values that a creator sends, apart from the one field that is not known yet. */
export interface SentWithout {
  /** The name of the field that is not known yet. */
  readonly without: string;
  /** Fields that the body has in place of it. */
  readonly instead?: Readonly<Record<string, Field>>;
  readonly sent: unknown;
  /** The user who has sent them, for `default: caller`. Default: the creator. */
  readonly sender?: Identity;
}

/** Reads a body that lacks one field of a new record. Ends the request (400) with all issues together. */
export function requireDraftWithout(
  { mount, exchange: own }: Creator,
  { without, instead = {}, sent, sender }: SentWithout,
): Draft<Resource, "made"> {
  const exchange =
    sender === undefined ? own : new ExchangeFor(own, own.endpoint, { identity: sender, params: own.params });
  exchange.body = makeBody(sent);
  const { resource } = mount;
  const { [without]: _, ...fields } = resource.fields;
  const view = { ...resource, fields: { ...instead, ...fields }, check: checkWithout(resource, without, instead) };
  return requireDraft(view, exchange.context, noRecord);
}

const noRecord = { id: null, current: null } as const;

function makeBody(value: unknown): NonNullable<Exchange["body"]> {
  return { value, leavesAreText: false, element: null, mediaType: "application/json", bytes: new Uint8Array() };
}

/**
 * Returns the check of a resource for records that lack one field. A check that cannot decide without this field finds
 * nothing: it is made again when the record is created.
 */
function checkWithout({ check }: Resource, without: string, instead: object): Resource["check"] {
  return (record) => {
    const known = Object.entries(record).filter(([name]) => !Object.hasOwn(instead, name));
    try {
      return check?.({ ...Object.fromEntries(known), [without]: null }) ?? [];
    } catch {
      return [];
    }
  };
}

/** Returns true if the creator may send a field. */
export function maySend({ mount: { resource } }: Creator, name: string): boolean {
  const field = resource.fields[name];
  return field !== undefined && isWritable(field);
}

/** Ends the request with 404 if the creator may not use the parents in the path. */
export async function requireParentsOf({ mount, exchange }: Creator): Promise<void> {
  await requireParents(mount, exchange);
}

/**
 * Returns for each of these values whether the permission allows the creator such a record. A missing value matches
 * nothing. Asks the database at most once for each condition.
 */
export async function mayCreateEach(
  { mount, exchange }: Creator,
  all: readonly WrittenValues[],
): Promise<readonly boolean[]> {
  const { only, params } = exchange;
  if (only === null) return all.map(() => true);
  const { parentColumn } = mount.resource;
  const parent = parentColumn === null ? {} : { [parentColumn]: params[parentColumn]! };
  const judged = all.map((values) => ({ record: { ...parent, ...values } as StoredRecord, decision: { only } }));
  return judgeEach(mount, exchange, judged);
}

/** Does the same as `mayCreateEach` for one record. */
export async function mayCreate(creator: Creator, values: WrittenValues): Promise<boolean> {
  return (await mayCreateEach(creator, [values]))[0]!;
}

/** Ends the request if the creator names a user whom it may not read, as for a user who does not exist. */
export async function requireKnownUsers({ mount, exchange }: Creator, values: WrittenValues): Promise<void> {
  await requireKnownMember(mount, exchange, { before: null, values }, () => undefined);
}

/** Returns true if the creator may use the parents in the path. */
export async function mayUseParents(creator: Creator): Promise<boolean> {
  try {
    await requireParentsOf(creator);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return false;
    throw error;
  }
}

/** A new record in the name of another user. */
export interface CreationFor {
  /** The body of the record, as this user would send it. */
  readonly sent: Readonly<Record<string, unknown>>;
  /** The field of the body with the user who accepts. The creator need not know this user. */
  readonly accepting: string;
  /** The identity that hooks, defaults and the cause of the write get. */
  readonly identity: Identity;
  /** More changes for the transaction, after those of the record. */
  readonly also: readonly Change[];
}

/**
 * Creates a record as POST does. Ends the request as POST would, if the body, the permission or a hook refuses the
 * record. The first row of a written outcome is the record.
 */
export async function createFor(creator: Creator, { sent, accepting, identity, also }: CreationFor): Promise<Outcome> {
  const { mount, exchange } = creator;
  const { collection } = mount;
  exchange.identified = { identity, ambient: false, passedOver: [] };
  exchange.body = makeBody(sent);
  const draft = requireRecordDraft(mount, exchange.context, { id: null, record: null });
  await requireParents(mount, exchange);
  await requireKnownUsers(creator, { ...draft.values, [accepting]: null } as WrittenValues);
  const id = madeId(mount, exchange);
  const prepared = await prepare(mount, { kind: "create", context: exchange.context, id, current: null, draft });
  const values = buildValues(mount, exchange, draft, prepared);
  await requireAllowed(mount, exchange, values);
  await requireKnownAfterHook(mount, exchange, { draft, prepared });
  const insert: Change = { kind: "insert", collection, ...(id === null ? {} : { key: id }), values };
  const further = await furtherChanges(prepared, mount, exchange, { id, before: null, values });
  return commit(
    mount,
    exchange,
    { changes: [insert, ...further, ...also] },
    { kind: "create", action: null, before: null },
  );
}

/** Returns the problem for a creation that wrote nothing. */
export function refusalFor({ mount, exchange }: Creator, outcome: Unwritten): Error {
  return refusal(outcome, mount, exchange);
}

/** Returns the id of a record. */
export function idOf({ record }: Row): Key {
  return record["id"] as Key;
}

/** Returns the reply that shows a record to a user, without a body if the user may not read it. */
export async function showFor(mount: ServedMount, context: Context, options: CreatorOptions, row: Row): Promise<Reply> {
  const params = { ...options.params, id: idOf(row) };
  const exchange = makeExchangeFor(mount, context, "read", { ...options, params });
  return showChanged(seenAt(mount, exchange), exchange, row);
}

/** Returns a record as a user reads it at its own path. Returns null if the user may not read it. */
export async function readFor(
  mount: ServedMount,
  context: Context,
  identity: Identity,
  id: Key,
): Promise<Readonly<Record<string, unknown>> | null> {
  const { store } = getExchange(context).service;
  const row = await store.find(mount.collection, id);
  if (row === null) return null;
  const params = { ...(await findParents(mount, store, row)), id };
  const exchange = makeExchangeFor(mount, context, "read", { identity, params });
  const decision = decideReading(mount, exchange, id);
  if (decision === "deny" || !(await mayReadWithin(mount, exchange))) return null;
  if (decision !== "allow" && !(await judge(mount, exchange, row.record, decision.only))) return null;
  return seenAt(mount, exchange).show(row.record);
}

/** Returns the ids of the parents of a record by their columns, like the parameters of its path. */
async function findParents({ parent, resource }: ServedMount, store: Store, { record }: Row): Promise<Params> {
  if (parent === null) return {};
  const column = resource.parentColumn!;
  const id = record[column] as Key;
  const row = await store.find(parent.collection, id);
  return { ...(row === null ? {} : await findParents(parent, store, row)), [column]: id };
}
