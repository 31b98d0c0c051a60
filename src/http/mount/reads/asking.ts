import type { Eventually } from "../../../core/eventually.ts";
import { hasAmong } from "../../../store/inner-collections.ts";
import {
  LongReadNeeded,
  StoreTimeout,
  type BesideQuery,
  type ListQuery,
  type ListText,
  type Row,
  type RelatedQuery,
  type RelatedText,
} from "../../../store/store.ts";
import { identifyHolder } from "../../body/intake.ts";
import type { Exchange } from "../../request/exchange.ts";
import { countPage } from "../../scheduling/rounds.ts";
import { formatListName, type AskedList } from "../../scheduling/slow-lists.ts";

/**
 * A read that takes less than this, in milliseconds, is assumed to come from the store's cache: its time does not show
 * the cost of the list, and it does not count as a page of the current pass of the event loop.
 */
const CACHED_MS = 0.03;

/**
 * Reads a page for this caller. `beside` are queries for related rows, which some stores return together with the page.
 * A query without an index is a long read: a read that may look at all rows. It waits in the queue of long reads.
 */
export function askForPage(
  exchange: Exchange,
  query: ListQuery,
  beside?: readonly BesideQuery[],
): Eventually<ListText> {
  const { store } = exchange.service;
  const readLong = (): Promise<ListText> => readInQueue(exchange, query, () => store.listJSON(createLongQuery(query)));
  if (isLong(exchange, query)) return readLong();
  return timed(exchange, query, () => orLong(query, (asked) => store.listJSON(asked, beside), readLong));
}

/** Reads rows for this caller. A query without an index waits in the queue of long reads. */
export function askForRows(exchange: Exchange, query: ListQuery): Eventually<readonly Row[]> {
  const { store } = exchange.service;
  const readLong = (): Promise<readonly Row[]> =>
    readInQueue(exchange, query, () => store.list(createLongQuery(query)));
  if (isLong(exchange, query)) return readLong();
  return timed(exchange, query, () => orLong(query, (asked) => store.list(asked), readLong));
}

/**
 * Reads the rows that belong to some keys. A long read waits in the queue of long reads. Returns null if the result is
 * too long.
 */
export function askForRelated(exchange: Exchange, query: RelatedQuery): Eventually<readonly RelatedText[] | null> {
  const { store } = exchange.service;
  const sortedQuery = { ...query, sort: [{ column: "id" }] };
  return query.long === true
    ? readInQueue(exchange, sortedQuery, () => store.listRelated(query))
    : store.listRelated(query);
}

/** Counts rows. Returns null if counting takes too long. */
export async function askForCount(exchange: Exchange, { collection, where }: ListQuery): Promise<number | null> {
  const { longReads, store } = exchange.service;
  try {
    return await longReads.run(identifyHolder(exchange), () => store.count(collection, where, true));
  } catch (error) {
    if (error instanceof StoreTimeout) return null;
    throw error;
  }
}

/**
 * Reads a page. A page of rows by their group may need a long read, which the store finds out when it has read many rows
 * in order.
 */
function orLong<T>(
  query: ListQuery,
  read: (query: ListQuery) => Eventually<T>,
  readLong: () => Promise<T>,
): Eventually<T> {
  if (query.where === null || !hasAmong(query.where)) return read(query);
  try {
    return read({ ...query, mayRefuse: true });
  } catch (error) {
    if (error instanceof LongReadNeeded) return readLong();
    throw error;
  }
}

function isLong({ service }: Exchange, query: ListQuery): boolean {
  return query.long === true || service.slowLists.has(query);
}

/**
 * Runs a read and measures how long it blocks the event loop. If a list is slow, later requests for it are long reads.
 */
function timed<T>(exchange: Exchange, query: AskedList, read: () => Eventually<T>): Eventually<T> {
  const { slowLists } = exchange.service;
  const ownStart = slowLists.suspects(query) ? readCPUTime() : null;
  const start = performance.now();
  const found = read();
  const elapsed = performance.now() - start;
  if (elapsed < CACHED_MS) return found;
  countPage();
  // The CPU time does not include the time that the process waits for the operating system. With that time, all lists
  // would seem slow on a busy machine.
  const ms = ownStart === null ? elapsed : Math.min(elapsed, readCPUTime() - ownStart);
  if (!(found instanceof Promise) && slowLists.note(query, ms)) reportSlow(exchange, query, ms);
  return found;
}

/**
 * Returns the CPU time of this thread, in milliseconds. The call takes a microsecond. Linux counts the time in ticks of
 * up to 4 ms.
 */
function readCPUTime(): number {
  const { user, system } = process.threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1000;
}

/** The long read for each query. Cached, because a store recognizes a query by its object. */
const longQueries = new WeakMap<ListQuery, ListQuery>();

function createLongQuery(query: ListQuery): ListQuery {
  if (query.long === true) return query;
  let longQuery = longQueries.get(query);
  if (longQuery === undefined) longQueries.set(query, (longQuery = { ...query, long: true }));
  return longQuery;
}

async function readInQueue<T>(exchange: Exchange, query: AskedList, read: () => Eventually<T>): Promise<T> {
  const { longReads, observe } = exchange.service;
  try {
    return await longReads.run(identifyHolder(exchange), read);
  } catch (error) {
    if (error instanceof StoreTimeout)
      observe?.({ kind: "notice", level: "error", message: describeFix(query), error });
    throw error;
  }
}

/** Returns the message for the operator, with the fix. */
function describeFix(query: AskedList): string {
  return (
    `A list of ${query.collection.name} took too long and was given up: no index serves ${formatListName(query)}. ` +
    `Remove the filter or the sort from the declaration, or declare an index with the eq filters first and the order after them.`
  );
}

function reportSlow({ service }: Exchange, query: AskedList, ms: number): void {
  const message =
    `A list of ${query.collection.name} took ${Math.round(ms)} ms for a page of ${query.limit}, with ${formatListName(query)}, and other requests waited for it. ` +
    "For ten minutes, such pages are long reads. The records may be large, or many may have the same value.";
  service.observe?.({ kind: "notice", level: "info", message });
}
