import { sentence, sortOf } from "../../../core/checking/members.ts";
import { problem } from "../../../core/problem/problem.ts";
import type { Draft } from "../../../resource/draft.ts";
import { isStored, isWritable } from "../../../resource/kinds/field.ts";
import type { Resource } from "../../../resource/resource.ts";
import type { Change, StoredRecord, Where, WrittenValues } from "../../../store/store.ts";
import { giveWay } from "../../body/turns.ts";
import type { Exchange } from "../../exchange.ts";
import { requireShowable } from "../computing.ts";
import { linkChanges } from "../links.ts";
import type { MountInPlace } from "../mount.ts";
import { toldAsOlder } from "../older/translating.ts";
import { matches } from "../reads/matches.ts";
import { readGiven } from "./given-values.ts";
import { preparedMistakes, type Prepared, type Write, type WriteOfRecord } from "./write.ts";

/** A caller who may reach only some rows may make or leave behind only such. And what is left can be shown. */
export function requireAllowed(
  placed: MountInPlace,
  { only }: { readonly only: Where | null },
  record: Readonly<Record<string, unknown>>,
): void {
  const { collection } = placed;
  if (only !== null && !matches(collection, record as StoredRecord, only)) throw problem("permission_denied");
  requireShowable(placed, record);
}

/** What the mount's own hook adds to a write. */
export async function prepare(placed: MountInPlace, write: WriteOfRecord): Promise<Prepared> {
  const { beforeWrite, resource, collection } = placed;
  await giveWay(write.context.body);
  if (beforeWrite === null) return {};
  // What has been checked stays as it is: what a hook adds stands in what it gives, and is looked at too.
  Object.freeze(write.draft?.values);
  Object.freeze(write.draft?.transient);
  Object.freeze(write.current);
  const given = toldAsOlder(placed, () => beforeWrite({ ...write, collection } as Write));
  const prepared = await write.context.call.awaiting(() => `beforeWrite of ${resource.path}`, given);
  const mistakes = preparedMistakes(prepared, collection);
  const fault = (what: string): TypeError =>
    new TypeError(`mount(${resource.path}): beforeWrite gave ${sentence([what])}`);
  if (mistakes.length > 0) throw fault(`something wrong: ${mistakes.join("; ")}`);
  if (prepared.values === undefined) return prepared;
  const complete = (): ReturnType<NonNullable<Prepared["complete"]>> => prepared.complete?.() ?? [];
  // The hook is the newer one's, in whatever shape was sent.
  const { fields } = (placed.newer ?? placed).resource;
  return { ...prepared, values: readGiven(fields, prepared.values, fault), complete };
}

/** The changes that belong to a write besides its own. */
export async function furtherChanges(
  prepared: Prepared,
  { links, resource }: MountInPlace,
  { call }: Exchange,
  written: Parameters<typeof linkChanges>[1],
): Promise<readonly Change[]> {
  const given = prepared.complete?.();
  const completed: unknown = (await call.awaiting(() => `complete of a beforeWrite of ${resource.path}`, given)) ?? [];
  if (!Array.isArray(completed))
    throw new TypeError(`complete of a beforeWrite gave ${sortOf(completed)}; it has to give a list of changes.`);
  return [...(prepared.changes ?? []), ...(completed as readonly Change[]), ...linkChanges(links, written)];
}

const leftOut = new WeakMap<Resource["fields"], readonly string[]>();

/** The fields that a new record needs, and that nobody may send and the service does not make: none, as a rule. */
function leftToHooks(fields: Resource["fields"]): readonly string[] {
  const known = leftOut.get(fields);
  if (known !== undefined) return known;
  const found = Object.entries(fields).flatMap(([name, field]) => {
    const { optional, default: fallback, generated, filled } = field.options;
    const isMade = optional === true || filled === true || (fallback ?? generated) !== undefined;
    return isMade || isWritable(field) || !isStored(field) ? [] : [name];
  });
  leftOut.set(fields, found);
  return found;
}

/** The values of a new record, below the parent of its path. */
export function valuesOf(
  { resource, newer }: MountInPlace,
  { params }: Exchange,
  draft: Draft<Resource, "made">,
  prepared: Prepared,
): WrittenValues {
  const { parentColumn } = resource;
  const values = { ...draft.values, ...prepared.values } as WrittenValues;
  for (const name of leftToHooks((newer?.resource ?? resource).fields))
    if (values[name] === undefined)
      throw new TypeError(
        `${resource.path}: nothing has made the field ${name}, which no caller may send; give it a default, make it optional, or write it in beforeWrite`,
      );
  return parentColumn === null ? values : { [parentColumn]: params[parentColumn]!, ...values };
}

/** The id of a new record where the service makes it; null where the store hands one out. */
export function madeId({ resource }: MountInPlace, { service, call }: Exchange): string | null {
  return resource.id === "uuid" ? service.makeUUID(call.now) : null;
}
