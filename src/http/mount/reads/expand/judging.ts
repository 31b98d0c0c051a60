import type { RowsDecision } from "../../../../access/permission/contract.ts";
import type { Key, StoredRecord } from "../../../../store/store.ts";
import type { ServedMount } from "../../../declarations/mount.ts";
import type { Exchange } from "../../../request/exchange.ts";
import type { Params } from "../../../request/path.ts";
import { collectColumns } from "../matches.ts";
import { judgeEach, type Judged } from "../settling.ts";
import type { Plan } from "./expansion.ts";
import type { Place } from "./page-records.ts";
import { intersectDecisions, verdictOn, type Verdict } from "./verdicts.ts";

/** The records with nested records, and the parameters of the path of their nested records. */
interface Outer {
  readonly places: ReadonlyMap<Key, Place>;
  readonly buildParams: (place: Place) => Params;
}

/**
 * Decides which nested records of each record the caller may list. Denies all if the caller may not read the outer
 * record.
 */
export async function decideListings(
  exchange: Exchange,
  mount: ServedMount,
  plan: Plan,
  { places, buildParams }: Outer,
): Promise<ReadonlyMap<Key, Verdict>> {
  const alike = findSharedVerdict(plan);
  if (alike !== null) return new Map([...places.keys()].map((id) => [id, alike]));
  const { relation, reach, list, read } = plan;
  const reached = [...places.values()].map((place) => {
    const { decision, isPersonal } =
      reach ?? verdictOn(mount, exchange, "read", { ...buildParams(place), id: place.id });
    return { decision, isPersonal, place };
  });
  const allowed = await judgeEach(
    mount,
    exchange,
    reached.map(({ place, decision }) => withColumns(mount, () => place.record, decision)),
  );
  return new Map(
    [...places].map(([id, place], at) => {
      if (!allowed[at]!) return [id, { decision: "deny", isPersonal: reached[at]!.isPersonal }];
      return [id, readable(list ?? verdictOn(relation.to, exchange, "list", buildParams(place)), read)];
    }),
  );
}

/**
 * Returns the decision about listing the nested records, if it is the same for all shown records. Returns null if it
 * must be made for each record.
 */
export function findSharedVerdict({ reach, list, read }: Plan): Verdict | null {
  return reach?.decision === "allow" && list !== null ? readable(list, read) : null;
}

function readable(listed: Verdict, read: Verdict | null): Verdict {
  return read === null ? listed : { ...listed, decision: intersectDecisions(listed.decision, read.decision) };
}

/** Returns the lists without the records that the caller may not read. */
export async function keepReadable(
  exchange: Exchange,
  to: ServedMount,
  lists: readonly (readonly Place[])[],
): Promise<readonly (readonly Place[])[]> {
  const judged = lists.flat().map(({ record, outer }) => {
    const { decision } = verdictOn(to, exchange, "read", { ...outer, id: record["id"] as Key });
    return withColumns(to, () => record, decision);
  });
  const allowed = await judgeEach(to, exchange, judged);
  let at = 0;
  return lists.map((list) => list.filter(() => allowed[at++]!));
}

/**
 * Returns a record with the decision about it. Throws a fault if the record was read without a column that the decision
 * names.
 */
function withColumns({ resource }: ServedMount, read: () => StoredRecord, decision: RowsDecision): Judged {
  if (typeof decision === "string") return { record: {}, decision };
  const record = read();
  const missing = collectColumns(decision.only).find((name) => !Object.hasOwn(record, name));
  if (missing === undefined) return { record, decision };
  throw new TypeError(
    `A permission of ${resource.path} narrows by ${missing} and does not declare it; name it in the columns of the permission.`,
  );
}
