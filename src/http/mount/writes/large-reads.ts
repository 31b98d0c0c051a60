import { valueOfJSON } from "../../../core/exact-numbers.ts";
import type { Collection, Key, Row, StoredRecord, Where } from "../../../store/store.ts";
import { resolveHold } from "../../body/intake.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { invalid, type Exchange } from "../../request/exchange.ts";
import { takeTurnAgain } from "../../scheduling/slices.ts";
import { measureLongest, MOST_OCTETS } from "../reads/page-length.ts";

/**
 * Counts the octets of the records that one attempt reads in order to change them. These records and the bodies of all
 * requests of one caller may occupy at most 8 MiB of memory.
 */
export class ReadOctets {
  readonly #exchange: Exchange;
  readonly #tooMany: () => Error;
  readonly #most: number;
  #read: number;

  /** `read` is the number of octets that the same attempt has read before. */
  constructor(exchange: Exchange, { resource, newer }: ServedMount, tooMany = tooLarge, read = 0) {
    this.#exchange = exchange;
    this.#tooMany = tooMany;
    this.#read = read;
    const room = resolveHold(exchange).room();
    // A page ends after the record that exceeds its limit, so memory for one more record is reserved.
    this.#most = room - Math.min(measureLongest((newer ?? { resource }).resource), room / 8);
  }

  get read(): number {
    return this.#read;
  }

  /**
   * True if the records are large. The request then writes only changed columns, and stores only the ids of its
   * response.
   */
  get areMany(): boolean {
    return this.#read > MOST_OCTETS;
  }

  /** The length limit of the next page, in octets. */
  get nextPage(): number {
    return Math.max(1, Math.min(MOST_OCTETS, this.#most - this.#read));
  }

  /**
   * Adds octets. Ends the request with `tooMany` if this request reads too much, and with 503 if other requests of the
   * same caller occupy too much memory.
   */
  take(octets: number): void {
    this.#read += octets;
    if (this.#read > this.#most) throw this.#tooMany();
    resolveHold(this.#exchange).takeRecords(this.#read);
  }

  /** Counts the same octets again, because the store returns the records a second time. */
  takeAgain(): void {
    this.take(this.#read);
  }
}

/** Some columns of rows. */
interface ColumnSelection {
  readonly collection: Collection;
  readonly columns: readonly string[];
  /** The maximum number of characters in these columns. */
  readonly longest: number;
}

/** Reads some columns of the rows with these ids. */
export async function findRows(
  { service: { store } }: Exchange,
  { collection, columns, longest }: ColumnSelection,
  ids: readonly Key[],
  octets: ReadOctets,
): Promise<ReadonlyMap<unknown, Row>> {
  const found = new Map<unknown, Row>();
  const most = Math.max(1, Math.floor(MOST_OCTETS / longest));
  for (let at = 0; at < ids.length; at += most) {
    if (at > 0) await takeTurnAgain();
    const where = among(ids.slice(at, at + most));
    const rows = await store.list({ collection, where, sort: byId, limit: most, columns });
    octets.take(Buffer.byteLength(JSON.stringify(rows)));
    for (const row of rows) found.set(row.record["id"], row);
  }
  return found;
}

/**
 * The number of records in the first piece. The length of these records determines the number of records in the next
 * piece. PostgreSQL creates the JSON of all requested records, even if the page ends earlier, so the number must not be
 * much too large.
 */
const FIRST = 64;

/**
 * Reads all or some columns of the records with these ids, in the order of their ids. Yields pieces of about 1 MiB, and
 * lets other requests run before each piece.
 */
export async function* readRecords(
  { service: { store } }: Exchange,
  { collection, columns }: { readonly collection: Collection; readonly columns?: readonly string[] },
  ids: readonly Key[],
  octets: ReadOctets,
): AsyncGenerator<readonly StoredRecord[], void, undefined> {
  let left = ids;
  let most = FIRST;
  while (left.length > 0) {
    await takeTurnAgain();
    const query = { collection, where: among(left), sort: byId, limit: Math.min(most, left.length) };
    const shown = columns === undefined ? {} : { columns };
    const { json, count, more } = await store.listJSON({ ...query, ...shown, maxLength: octets.nextPage });
    const length = Buffer.byteLength(json);
    octets.take(length);
    const records = valueOfJSON(json) as readonly StoredRecord[];
    yield records;
    if (!more) return;
    const read = new Set<unknown>(records.map(({ id }) => id));
    left = left.filter((id) => !read.has(id));
    most = Math.max(1, Math.ceil((2 * MOST_OCTETS * count) / length));
  }
}

const byId = [{ column: "id" }] as const;

function among(ids: readonly Key[]): Where {
  return { column: "id", operator: "in", value: ids };
}

/** The problem of an array whose records are too large. */
export function tooLarge(): Error {
  const detail = "The array and its records are longer than 8 MiB together. Send fewer records at once.";
  return invalid([{ pointer: "", code: "too_many", detail }]);
}
