import { DEFAULT_LIMIT } from "../../resource/page-size.ts";
import type { Collection, ListQuery, Where } from "../../store/store.ts";

/**
 * An index serves a list in no time, but for what nobody can know of the rows: a hundred thousand of them with one value in the order, whose ids
 * go the other way, are all read for each page. What takes long again and again is read beside all else from then on.
 */

/** Whoever reads in the event loop for longer than this holds up all others, in milliseconds. */
const SLOW_MS = 20;

/** So long such lists are read beside all else, in milliseconds. */
const WARY_MS = 10 * 60_000;

/** A slow read counts so much and a fast one takes one away: the list may have been read for the first time, or by what came between. */
const SLOW_COUNTS = 3;
const TOO_SLOW = 2 * SLOW_COUNTS;

/** So many records are a short page; the usual one has ten times as many. */
const SHORT_PAGE = 10;

/** There are only so many lists that a declaration permits; of more than these none is remembered. */
const MOST_LISTS = 1000;

interface Watched {
  slowness: number;
  /** With `performance.now()`; 0 while it is read in the event loop. */
  besideUntil: number;
}

export type AskedList = Pick<ListQuery, "collection" | "where" | "sort" | "limit">;

/** The lists of a service that were slow lately. */
export class SlowLists {
  /** By their collection and what is asked. */
  readonly #watched = new Map<Collection, Map<string, Watched>>();

  /** Whether such a list was slow again and again. */
  has(query: AskedList): boolean {
    const lists = this.#watched.get(query.collection);
    if (lists === undefined) return false;
    const name = sizedNameOf(query);
    const list = lists.get(name);
    if (list === undefined || list.besideUntil === 0) return false;
    if (performance.now() < list.besideUntil) return true;
    lists.delete(name);
    return false;
  }

  /** Whether it was slow lately, so that it counts how long it takes by itself (`note`): a machine may give the time to others. */
  suspects(query: AskedList): boolean {
    const lists = this.#watched.get(query.collection);
    return lists !== undefined && lists.has(sizedNameOf(query));
  }

  /** Notes how long it took to read one in the event loop. True where such lists are read beside it from now on. */
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
  const name = sizedNameOf(query);
  if (!lists.has(name) && lists.size >= MOST_LISTS) lists.clear();
  const list = lists.get(name) ?? { slowness: 0, besideUntil: 0 };
  lists.set(name, list);
  list.slowness += SLOW_COUNTS;
  if (list.slowness < TOO_SLOW || list.besideUntil !== 0) return false;
  list.besideUntil = performance.now() + WARY_MS;
  return true;
}

function noteFast(lists: Map<string, Watched>, query: AskedList): void {
  const name = sizedNameOf(query);
  const list = lists.get(name);
  if (list === undefined || list.besideUntil !== 0) return;
  if (--list.slowness <= 0) lists.delete(name);
}

/** A page of a thousand large records takes its time, and says nothing of pages of ten. */
function sizedNameOf(query: AskedList): string {
  const size = query.limit > DEFAULT_LIMIT ? "long" : query.limit > SHORT_PAGE ? "usual" : "short";
  return `${size} ${nameOf(query)}`;
}

/** Which list it is. It names columns and no values, which may tell of people. */
export function nameOf({ where, sort }: Pick<AskedList, "where" | "sort">): string {
  const asked = where === null ? [] : conditionsIn(where).toSorted();
  const order = sort.map(({ column, descending }) => (descending === true ? `-${column}` : column));
  return `${asked.length === 0 ? "" : `the filters ${asked.join(", ")} with `}the order ${order.join(", ")}`;
}

function conditionsIn(where: Where): readonly string[] {
  if ("all" in where) return where.all.flatMap(conditionsIn);
  if ("word" in where) return ["search"];
  if ("link" in where) return [where.linked];
  if ("not" in where) return conditionsIn(where.not);
  return "any" in where ? where.any.flatMap(conditionsIn) : [`${where.column}[${where.operator}]`];
}
