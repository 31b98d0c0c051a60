import type { RowsDecision } from "../../../access/permission/contract.ts";
import { listsStrong } from "../../../core/headers/etag.ts";
import type { Problem } from "../../../core/problem/problem.ts";
import type { Narrowing, Row } from "../../../store/store.ts";
import { stateIn } from "../../answer/tags.ts";
import { withAllFields, hidesValues, type ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";
import { collectColumns } from "../reads/matches.ts";
import { longestOfColumns } from "../reads/page-length.ts";
import { decisionOn, findWithinParent, forbidden, decideReading } from "../reads/reading.ts";
import { judgeEach, judgeEachChanged, type Judged } from "../reads/settling.ts";
import { parseRecordDraft, withoutGiven } from "./drafting.ts";
import { findRows, type ReadOctets } from "./large-reads.ts";
import type { Patch } from "./patches.ts";
import { isOldTag, tagsOfState } from "./preconditions.ts";
import { inOrder, notFound, readEach, stale } from "./record-arrays.ts";

/** A patch, and the columns of its record that the permission and the preconditions need. */
export interface PatchTarget {
  readonly patch: Patch;
  /** Null if the record does not exist, or if the caller may not change it. */
  readonly row: Row | null;
  readonly only: Narrowing | null;
  /** True if the caller may read the record, but not change it. */
  readonly isForbidden: boolean;
}

/** Reads the rows that this caller may change, only with the columns that the permission and the preconditions need. */
export async function findKnown(
  mount: ServedMount,
  exchange: Exchange,
  patches: readonly Patch[],
  octets: ReadOctets,
): Promise<readonly PatchTarget[]> {
  const { collection, resource, newer } = mount;
  const decisions = await inOrder(patches, async ({ id }) => decisionOn(mount, exchange, "update", id));
  // Only a caller who may not change every record can meet one that may only be read.
  const readings = await inOrder(patches, async ({ id }, at) =>
    decisions[at] === "allow" ? "deny" : decideReading(mount, exchange, id),
  );
  const narrowed = [...decisions, ...readings].flatMap((each) =>
    typeof each === "string" ? [] : collectColumns(each.only),
  );
  const needed = [...(resource.parentColumn === null ? [] : [resource.parentColumn]), ...narrowed];
  const tagged = hidesValues(mount) ? (newer ?? mount).sources : [];
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
export async function collectStale(
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
export async function refusalBefore(
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
