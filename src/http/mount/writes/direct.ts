import type { Change, Key, Outcome, Row, WrittenValues } from "../../../store/store.ts";
import { buildLinkChanges } from "../../declarations/links.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { getExchange, type Context } from "../../request/exchange.ts";
import { commit } from "./committing.ts";

/** A write of one record whose values are already checked. */
export interface DirectWrite {
  /** The row to change. Null for a new record. */
  readonly before: Row | null;
  readonly values: WrittenValues;
  /** More changes for the transaction, after the change of the record. `keyOf(0)` is the id of a new record. */
  readonly changes: readonly Change[];
}

/**
 * Writes one record for a custom endpoint, with the events and `afterWrite` of every write. Does not call
 * `beforeWrite`. The first row of the outcome is the record.
 */
export function writeDirectly(
  mount: ServedMount,
  context: Context,
  { before, values, changes }: DirectWrite,
): Promise<Outcome> {
  const { collection, links } = mount;
  const id = before === null ? null : (before.record["id"] as Key);
  const own: Change =
    before === null || id === null
      ? { kind: "insert", collection, values }
      : { kind: "update", collection, key: id, values, revision: before.revision };
  const linked = buildLinkChanges(links, { id, before: before?.record ?? null, values });
  const kind = before === null ? "create" : "update";
  const writing = { kind, action: null, before } as const;
  return commit(mount, getExchange(context), { changes: [own, ...changes, ...linked] }, writing);
}
