import { DEFAULT_LIMIT } from "../../resource/page-size.ts";
import type { Collection, ListQuery, Where } from "../../store/store.ts";

/**
 * With an index, a list is usually fast. But if a hundred thousand rows have the same sort value and the ids are sorted
 * in the other direction, every page reads all of these rows. So a list that was slow several times is read outside of
 * the event loop for a while.
 */

/** A read in the event loop that is longer than this delays all other requests, in milliseconds. */
const SLOW_MS = 20;

/** How long a slow list is read outside of the event loop, in milliseconds. Then its reads are measured again. */
const SLOW_FOR_MS = 10 * 60_000;

/**
 * How much a slow read counts. A fast read subtracts one. One slow read proves nothing: it may have been the first
 * read, or other work may have delayed it.
 */
const SLOW_COUNTS = 3;
const TOO_SLOW = 2 * SLOW_COUNTS;

/** The maximum number of records of a short page. The usual page has ten times as many. */
const SHORT_PAGE = 10;

/** The maximum number of lists for which the slowness is stored, per collection. */
const MOST_LISTS = 1000;

interface Watched {
  slowness: number;
  /**
   * The list is read outside of the event loop until this time (`performance.now()`). 0 while it is read in the event
   * loop.
   */
  outsideUntil: number;
}

export type AskedList = Pick<ListQuery, "collection" | "where" | "sort" | "limit">;

/** The lists of a service that were slow recently. */
export class SlowLists {
  /** The lists of each collection, by name. */
  readonly #watched = new Map<Collection, Map<string, Watched>>();

  /**
   * Returns true if the list must be read outside of the event loop now. Forgets a list whose time is over, to measure
   * it again.
   */
  has(query: AskedList): boolean {
    const lists = this.#watched.get(query.collection);
    if (lists === undefined) return false;
    const name = formatSizedName(query);
    const list = lists.get(name);
    if (list === undefined || list.outsideUntil === 0) return false;
    if (performance.now() < list.outsideUntil) return true;
    lists.delete(name);
    return false;
  }

  /**
   * Returns true if a read of the list was slow recently. Its next reads must then be measured in CPU time (`note`),
   * because other programs may have delayed the slow read.
   */
  suspects(query: AskedList): boolean {
    const lists = this.#watched.get(query.collection);
    return lists !== undefined && lists.has(formatSizedName(query));
  }

  /**
   * Notes the duration of a read in the event loop. Returns true if the list is read outside of the event loop from now
   * on.
   */
  note(query: AskedList, ms: number): boolean {
    const lists = this.#watched.get(query.collection);
    if (ms > SLOW_MS) return noteSlow(lists ?? this.#watch(query.collection), query);
    if (lists === undefined) return false;
    noteFast(lists, query);
    if (lists.size === 0) this.#watched.delete(query.collection);
    return false;
  }

  #watch(collection: Collection): Map<string, Watched> {
    const lists = new Map<string, Watched>();
    this.#watched.set(collection, lists);
    return lists;
  }
}

function noteSlow(lists: Map<string, Watched>, query: AskedList): boolean {
  const name = formatSizedName(query);
  if (!lists.has(name) && lists.size >= MOST_LISTS) lists.clear();
  const list = lists.get(name) ?? { slowness: 0, outsideUntil: 0 };
  lists.set(name, list);
  list.slowness += SLOW_COUNTS;
  if (list.slowness < TOO_SLOW || list.outsideUntil !== 0) return false;
  list.outsideUntil = performance.now() + SLOW_FOR_MS;
  return true;
}

function noteFast(lists: Map<string, Watched>, query: AskedList): void {
  const name = formatSizedName(query);
  const list = lists.get(name);
  if (list === undefined || list.outsideUntil !== 0) return;
  if (--list.slowness <= 0) lists.delete(name);
}

/**
 * Returns the name of the list with the size of the page. A slow page of a thousand large records says nothing about
 * pages of ten records.
 */
function formatSizedName(query: AskedList): string {
  const size = query.limit > DEFAULT_LIMIT ? "long" : query.limit > SHORT_PAGE ? "usual" : "short";
  return `${size} ${formatListName(query)}`;
}

/** Returns the name of a list. It contains columns but no values, which may be personal. */
export function formatListName({ where, sort }: Pick<AskedList, "where" | "sort">): string {
  const conditions = where === null ? [] : conditionsIn(where).toSorted();
  const order = sort.map(({ column, descending }) => (descending === true ? `-${column}` : column));
  return `${conditions.length === 0 ? "" : `the filters ${conditions.join(", ")} with `}the order ${order.join(", ")}`;
}

function conditionsIn(where: Where): readonly string[] {
  if ("all" in where) return where.all.flatMap(conditionsIn);
  if ("word" in where) return ["search"];
  if ("link" in where) return [where.linked];
  if ("among" in where) return [`${where.column}[among]`];
  if ("not" in where) return conditionsIn(where.not);
  return "any" in where ? where.any.flatMap(conditionsIn) : [`${where.column}[${where.operator}]`];
}
