import type { Change, Idempotency, Key, Row, StoredRecord } from "../../../store/store.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import type { Exchange } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";
import { isErased } from "./committing.ts";
import { measureStored, type StoredWrite } from "./idempotency.ts";
import { findRows, ReadOctets, readRecords } from "./large-reads.ts";
import type { Part } from "./part.ts";

/**
 * The maximum length of a stored response, in octets. For a longer response, only the ids and revisions are stored. A
 * repeated request then reads the records again.
 */
const MOST_KEPT = 1024 * 1024;

/** The length of an id in JSON, in characters, rounded up. A text id has at most 200 characters. */
const LONGEST_ID = 250;

/**
 * Decides whether the records or only the ids of an array's response are stored. Returns null if the request has no
 * `Idempotency-Key`.
 */
export async function chooseStored(
  parts: readonly Part[],
  idempotency: Idempotency | null,
  areLarge: boolean,
): Promise<StoredWrite | null> {
  if (idempotency === null) return null;
  let octets = 0;
  await inTurns(parts, ({ own, writing: { before } }) => {
    if (!areLarge && octets <= MOST_KEPT) octets += measureStored(idempotency, [buildRecord(before, own)]);
  });
  if (!areLarge && octets <= MOST_KEPT) return { idempotency, octets };
  const brief = { ...idempotency, columns: ["id"] };
  const ids = parts.map(({ own, writing: { before } }) => ({ id: buildRecord(before, own)["id"]! }));
  return { idempotency: brief, octets: measureStored(brief, ids) };
}

function buildRecord(before: Row | null, own: Change): StoredRecord {
  return { id: 0, ...before?.record, ...("values" in own ? own.values : {}) };
}

/**
 * Returns the rows of a stored response. If only their ids and revisions were stored, reads the rows again. Returns
 * null if a row has changed since then.
 */
export async function loadStoredRows(
  mount: ServedMount,
  exchange: Exchange,
  storedRows: readonly (Row | null)[],
): Promise<readonly Row[] | null> {
  const rows = storedRows.filter((row) => row !== null);
  if (!rows.some((row) => isErased(mount, row))) return rows;
  const { collection } = mount;
  const octets = new ReadOctets(exchange, mount);
  const ids = rows.map(({ record }) => record["id"] as Key);
  const query = { collection, columns: ["id"], longest: LONGEST_ID };
  const now = await findRows(exchange, query, ids, octets);
  if (rows.some(({ revision, record: { id } }) => now.get(id)?.revision !== revision)) return null;
  const records = new Map<unknown, StoredRecord>();
  for await (const piece of readRecords(exchange, mount, ids, octets))
    for (const record of piece) records.set(record["id"], record);
  if (records.size < rows.length) return null;
  return rows.map(({ revision, record: { id } }) => ({ revision, record: records.get(id)! }));
}
