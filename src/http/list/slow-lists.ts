import type { Eventually } from "../../eventually.ts";
import type { Collection, ListQuery, Where } from "../../store/store.ts";

/**
 * An index serves a list in no time, but for what nobody can know of the rows: a hundred thousand of them with one value in the order, whose ids
 * go the other way, are all read for each page. What takes long again and again is read beside all else from then on.
 */

/** Whoever reads in the event loop for longer than this holds up all others, in milliseconds. */
const SLOW_MS = 20;

/** What is read faster was remembered, and says nothing of the list. In milliseconds. */
const LITTLE_MS = 0.03;

/** So long such lists are read beside all else, in milliseconds. */
const WARY_MS = 10 * 60_000;

/** A slow read counts so much and a fast one takes one away: the machine may have been busy, or the list was read for the first time. */
const SLOW_COUNTS = 3;
const TOO_SLOW = 2 * SLOW_COUNTS;

/** There are only so many lists that a declaration permits; of more than these none is remembered. */
const MOST_LISTS = 1000;

interface Watched {
  slowness: number;
  /** With `performance.now()`; 0 while it is read in the event loop. */
  besideUntil: number;
}

/** The lists of a collection that were slow, by what is asked. */
const watched = new WeakMap<Collection, Map<string, Watched>>();

export type AskedList = Pick<ListQuery, "collection" | "where" | "sort">;

/** Whether such a list was slow again and again, lately. */
export function isSlow(query: AskedList): boolean {
  const lists = watched.get(query.collection);
  if (lists === undefined) return false;
  const name = nameOf(query);
  const list = lists.get(name);
  if (list === undefined || list.besideUntil === 0) return false;
  if (performance.now() < list.besideUntil) return true;
  lists.delete(name);
  return false;
}

/** Reads in the event loop, where the store does. `tell` is told when such lists are read beside it from now on. */
export function timed<T>(query: AskedList, read: () => Eventually<T>, tell: (ms: number) => void): Eventually<T> {
  const start = performance.now();
  const found = read();
  const ms = performance.now() - start;
  if (found instanceof Promise || ms < LITTLE_MS) return found;
  const lists = watched.get(query.collection);
  if (ms > SLOW_MS) noteSlow(lists ?? watch(query.collection), query, () => tell(ms));
  else if (lists !== undefined) noteFast(lists, query);
  return found;
}

function watch(collection: Collection): Map<string, Watched> {
  const lists = new Map<string, Watched>();
  watched.set(collection, lists);
  return lists;
}

function noteSlow(lists: Map<string, Watched>, query: AskedList, tell: () => void): void {
  const name = nameOf(query);
  if (!lists.has(name) && lists.size >= MOST_LISTS) lists.clear();
  const list = lists.get(name) ?? { slowness: 0, besideUntil: 0 };
  lists.set(name, list);
  list.slowness += SLOW_COUNTS;
  if (list.slowness < TOO_SLOW || list.besideUntil !== 0) return;
  list.besideUntil = performance.now() + WARY_MS;
  tell();
}

function noteFast(lists: Map<string, Watched>, query: AskedList): void {
  const name = nameOf(query);
  const list = lists.get(name);
  if (list === undefined || list.besideUntil !== 0) return;
  if (--list.slowness <= 0) lists.delete(name);
  if (lists.size === 0) watched.delete(query.collection);
}

/** Which list it is. It names columns and no values, which may tell of people. */
export function nameOf({ where, sort }: AskedList): string {
  const asked = where === null ? [] : conditionsIn(where);
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
