import { regeneratedValues } from "../../../resource/draft.ts";
import { OVERTAKEN, type Change, type Key, type Outcome, type Row, type WrittenValues } from "../../../store/store.ts";
import { buildLinkedRows, buildUnlinking, type Link } from "../../declarations/links.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { commitAll, type WriteFacts } from "./committing.ts";
import { ReadOctets, readRecords } from "./large-reads.ts";
import { MAX_RECORDS } from "./record-arrays.ts";
import { referenced } from "./referring.ts";
import { renumberKeys } from "./renumbering.ts";

/**
 * Deletes a record and removes its id from the lists of ids in other records. Each of those records gets a new
 * revision, an event and `afterWrite`, as with any write. `changes` are the changes of the deletion. The first change
 * deletes the record.
 */
export async function commitRemoval(
  mount: ServedMount,
  exchange: Exchange,
  row: Row,
  changes: readonly Change[],
): Promise<Outcome> {
  const own: WriteFacts = { kind: "delete", action: null, before: row };
  if (mount.listedBy.length === 0) return commitAll(mount, exchange, { changes }, [own]);
  const id = row.record["id"] as Key;
  const before: Change[] = [];
  const behind: Change[] = [];
  const writings: WriteFacts[] = [];
  let read = 0;
  for (const [of, links] of linksByMount(mount)) {
    const { rows, octets } = await listing(exchange, { of, links, read }, id);
    read = octets;
    for (const each of rows) {
      if (of.collection.name === mount.collection.name && each.record["id"] === id) continue;
      writings.push({ kind: "update", action: null, before: each, of });
      before.push(without(exchange, of, links, each, id));
    }
    const records = rows.map(({ record }) => record["id"] as Key);
    if (records.length > 0) behind.push(...links.map((link) => buildUnlinking(link, id, records)));
  }
  const at = before.length + behind.length;
  const all = [...before, ...behind, ...changes.map((change) => renumberKeys(change, (made) => made + at))];
  const outcome = await commitAll(mount, exchange, { changes: all }, [...writings, { ...own, at }]);
  if (!isNamedByList(outcome, mount) || !(await isListedAsBefore(mount, exchange, id, writings)))
    return asOfRemoval(outcome, mount, at);
  // A list names a record that would be deleted with this one. Another try would find the same.
  return { ...outcome, change: outcome.change - at };
}

type Referenced = Extract<Outcome, { kind: "referenced" }>;

function isNamedByList(outcome: Outcome, { listedBy }: ServedMount): outcome is Referenced {
  return outcome.kind === "referenced" && listedBy.some(({ link }) => link.collection.name === outcome.collection);
}

/** Returns true if the same records as before, in the same state, have the id in a list. */
async function isListedAsBefore(
  mount: ServedMount,
  exchange: Exchange,
  id: Key,
  writings: readonly WriteFacts[],
): Promise<boolean> {
  const stateOf = ({ name }: ServedMount["collection"], { record, revision }: Row): string =>
    JSON.stringify([name, record["id"], revision]);
  const known = new Set(writings.map(({ of, before }) => stateOf(of!.collection, before!)));
  let read = 0;
  for (const [of, links] of linksByMount(mount)) {
    const { rows, octets } = await listing(exchange, { of, links, read }, id);
    read = octets;
    const others = rows.filter(({ record }) => of.collection.name !== mount.collection.name || record["id"] !== id);
    if (others.some((each) => !known.delete(stateOf(of.collection, each)))) return false;
  }
  return known.size === 0;
}

/** Groups the links by mount, because one mount may have several such lists, and each record is changed once. */
function linksByMount({ listedBy }: ServedMount): ReadonlyMap<ServedMount, readonly Link[]> {
  const grouped = Map.groupBy(listedBy, ({ of }) => of);
  return new Map([...grouped].map(([of, listings]) => [of, listings.map(({ link }) => link)]));
}

/**
 * Returns the records with the id in a list. For a mount with `afterWrite` the records are complete. Otherwise they
 * have only their lists. Ends the request if there are too many records for one transaction.
 */
async function listing(
  exchange: Exchange,
  { of, links, read }: { readonly of: ServedMount; readonly links: readonly Link[]; readonly read: number },
  id: Key,
): Promise<{ readonly rows: readonly Row[]; readonly octets: number }> {
  const tooMany = (which: string): Error =>
    referenced(of, exchange, `${which}, and so many cannot be changed at once. Remove its id from some of them first`);
  const states = await exchange.service.store.list({
    collection: of.collection,
    // For one list, the link table contains the ids of the records. For several lists, the store may have to scan all
    // records, so this is a long read outside of the event loop.
    where:
      links.length === 1 ? buildLinkedRows(links[0]!, [id]) : { any: links.map((link) => buildLinkedRows(link, [id])) },
    sort: [{ column: "id" }],
    limit: MAX_RECORDS + 1,
    columns: ["id"],
    long: links.length > 1,
  });
  if (states.length > MAX_RECORDS) throw tooMany(`more than ${MAX_RECORDS} ${of.resource.plural}`);
  const revisions = new Map(states.map(({ revision, record }) => [record["id"], revision]));
  const octets = new ReadOctets(exchange, of, () => tooMany(`more than 8 MiB of ${of.resource.plural}`), read);
  const columns = of.afterWrite === null ? { columns: ["id", ...links.map(({ field }) => field)] } : {};
  const rows: Row[] = [];
  const ids = [...revisions.keys()] as readonly Key[];
  for await (const records of readRecords(exchange, { collection: of.collection, ...columns }, ids, octets))
    for (const record of records) rows.push({ revision: revisions.get(record["id"])!, record });
  // `afterWrite` also gets the records after the write, so they are counted a second time.
  if (of.afterWrite !== null) octets.take(octets.read - read);
  return { rows, octets: octets.read };
}

/** Returns the change that removes the id from a record's lists. */
function without(
  exchange: Exchange,
  of: ServedMount,
  links: readonly Link[],
  { record, revision }: Row,
  id: Key,
): Change {
  const { collection, resource } = of;
  const lists = links.flatMap(({ field, minItems }): [string, readonly Key[]][] => {
    const ids = record[field] as readonly Key[] | null;
    if (ids?.includes(id) !== true) return [];
    if (ids.length <= minItems)
      throw referenced(of, exchange, `${resource.plural}, whose ${field} need ${minItems} at least`);
    return [[field, ids.filter((each) => each !== id)]];
  });
  const values = { ...regeneratedValues(resource, exchange.context), ...Object.fromEntries(lists) } as WrittenValues;
  const shown = of.afterWrite === null ? { shown: ["id"] } : {};
  return { kind: "update", collection, key: record["id"] as Key, values, revision, ...shown };
}

/**
 * Returns the outcome as if the deletion were the first change. If a record with the id in a list has changed, or
 * another record has added the id to its list, returns `OVERTAKEN`: the deletion is tried again.
 */
function asOfRemoval(outcome: Outcome, mount: ServedMount, at: number): Outcome {
  if (!("change" in outcome)) return outcome;
  if (isNamedByList(outcome, mount) || outcome.change < at)
    return { kind: "refused", change: outcome.change, name: OVERTAKEN };
  return { ...outcome, change: outcome.change - at };
}
