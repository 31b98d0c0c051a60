import { formatMistakes, describeType } from "../../../core/checking/members.ts";
import { makeLookup } from "../../../core/crypto/opaque-token.ts";
import { after, type Eventually } from "../../../core/eventually.ts";
import { problem } from "../../../core/problem/problem.ts";
import { isStored, isWritable } from "../../../resource/declaration/field.ts";
import type { Draft } from "../../../resource/draft.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { Change, Narrowing, StoredRecord, WrittenValues } from "../../../store/store.ts";
import { requireShowable } from "../../declarations/computing.ts";
import { buildLinkChanges } from "../../declarations/links.ts";
import { withAllFields } from "../../declarations/mount.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { preparedMistakes, type Prepared, type Write, type WriteOfRecord } from "../../declarations/write.ts";
import type { Exchange } from "../../request/exchange.ts";
import { yieldBetweenSteps } from "../../scheduling/slices.ts";
import { withOlderNames } from "../older/translating.ts";
import { isSettled, judgeChanged, judgeEachChanged } from "../reads/settling.ts";
import { readGiven } from "./given-values.ts";

/**
 * Ends the request with 403 if the permission narrows the caller to some rows and the resulting record is not one of
 * them. Throws a fault if the record cannot be shown.
 */
export function requireAllowed(
  mount: ServedMount,
  exchange: Exchange,
  record: Readonly<Record<string, unknown>>,
  only = exchange.only,
): Eventually<void> {
  if (only === null) return requireShowable(withAllFields(mount), record);
  return after(judgeChanged(mount, exchange, record as StoredRecord, only), (isAllowed) => {
    if (!isAllowed) throw problem("permission_denied");
    requireShowable(withAllFields(mount), record);
  });
}

/** A record of an array that a write results in, and the rows that the permission allows for it. Null: all. */
export interface Resulting {
  readonly record: Readonly<Record<string, unknown>>;
  readonly only: Narrowing | null;
}

/** Does the same as `requireAllowed` for a record of an array, if its condition is about the record alone. */
export function requireAllowedAlone(mount: ServedMount, exchange: Exchange, { record, only }: Resulting): void {
  if (only === null || isSettled(only)) void requireAllowed(mount, exchange, record, only);
}

/** Does the same as `requireAllowed` for the other records of an array. Asks the database once. */
export function requireEachAllowed(
  mount: ServedMount,
  exchange: Exchange,
  resulting: readonly Resulting[],
): Eventually<void> {
  const left = resulting.flatMap(({ record, only }) =>
    only === null || isSettled(only) ? [] : [{ record: record as StoredRecord, decision: { only } }],
  );
  if (left.length === 0) return;
  return after(judgeEachChanged(mount, exchange, left), (allowed) => {
    if (allowed.includes(false)) throw problem("permission_denied");
    for (const { record } of left) requireShowable(withAllFields(mount), record);
  });
}

/** Calls `beforeWrite` of the mount, and returns the values and changes that it adds to a write. */
export async function prepare(mount: ServedMount, write: WriteOfRecord): Promise<Prepared> {
  const { beforeWrite, resource, collection } = mount;
  await yieldBetweenSteps(write.context.body);
  if (beforeWrite === null) return {};
  // The values have been checked, so the hook must not change them. It can return additional values, which are checked
  // too.
  Object.freeze(write.draft?.values);
  Object.freeze(write.draft?.transient);
  Object.freeze(write.current);
  const pending = withOlderNames(mount, () => beforeWrite({ ...write, collection } as Write));
  const prepared = await write.context.call.awaiting(() => `beforeWrite of ${resource.path}`, pending);
  const mistakes = preparedMistakes(prepared, collection);
  const fault = (what: string): TypeError =>
    new TypeError(`mount(${resource.path}): beforeWrite gave ${formatMistakes([what])}`);
  if (mistakes.length > 0) throw fault(`something wrong: ${mistakes.join("; ")}`);
  if (prepared.values === undefined) return prepared;
  const complete = (): ReturnType<NonNullable<Prepared["complete"]>> => prepared.complete?.() ?? [];
  // The hook always returns values of the newer shape, even if the request uses an older shape.
  const { fields } = withAllFields(mount.newer ?? mount).resource;
  return { ...prepared, values: readGiven(fields, prepared.values, fault), complete };
}

/** Returns the additional changes of a write. */
export async function furtherChanges(
  prepared: Prepared,
  { links, resource }: ServedMount,
  { call }: Exchange,
  written: Parameters<typeof buildLinkChanges>[1],
): Promise<readonly Change[]> {
  const pending = prepared.complete?.();
  const completed: unknown =
    (await call.awaiting(() => `complete of a beforeWrite of ${resource.path}`, pending)) ?? [];
  if (!Array.isArray(completed))
    throw new TypeError(`complete of a beforeWrite gave ${describeType(completed)}; it has to give a list of changes.`);
  return [...(prepared.changes ?? []), ...(completed as readonly Change[]), ...buildLinkChanges(links, written)];
}

const leftOut = new WeakMap<Resource["fields"], readonly string[]>();

/**
 * Returns the required fields that only a hook can fill: no client may send them, and the service does not generate
 * them. Most resources have none.
 */
function leftToHooks(fields: Resource["fields"]): readonly string[] {
  const cached = leftOut.get(fields);
  if (cached !== undefined) return cached;
  const found = Object.entries(fields).flatMap(([name, field]) => {
    const { optional, default: fallback, generated, filled } = field.options;
    const isMade = optional === true || filled === true || (fallback ?? generated) !== undefined;
    return isMade || isWritable(field) || !isStored(field) ? [] : [name];
  });
  leftOut.set(fields, found);
  return found;
}

/** Returns the values of a new record, with the id of its parent. Throws a fault if a required field has no value. */
export function buildValues(
  mount: ServedMount,
  { params }: Pick<Exchange, "params">,
  draft: Draft<Resource, "made">,
  prepared: Prepared,
): WrittenValues {
  const { resource, newer } = withAllFields(mount);
  const { parentColumn } = resource;
  const values = { ...draft.values, ...prepared.values } as WrittenValues;
  for (const name of leftToHooks((newer?.resource ?? resource).fields))
    if (values[name] === undefined)
      throw new TypeError(
        `${resource.path}: the field ${name} has no value, and callers may not send it; give it a default, make it optional, or write it in beforeWrite`,
      );
  return parentColumn === null ? values : { [parentColumn]: params[parentColumn]!, ...values };
}

/** Returns the sent values of a new record, with the id of its parent. */
export function sentValues(
  { resource: { parentColumn } }: ServedMount,
  { params }: Exchange,
  draft: Draft,
): WrittenValues {
  const values = draft.values as WrittenValues;
  return parentColumn === null ? values : { [parentColumn]: params[parentColumn]!, ...values };
}

/** Returns a new id if the service generates the ids of this resource. Returns null if the store assigns them. */
export function madeId({ resource, once }: ServedMount, { service, call }: Exchange): string | null {
  if (once !== null) return makeLookup();
  return resource.id === "uuid" ? service.makeUUID(call.now) : null;
}
