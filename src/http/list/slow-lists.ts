import type { Eventually } from "../../eventually.ts";
import type { Collection, ListQuery, Where } from "../../store/store.ts";

/**
 * An index serves a list in no time, but for what nobody can know of the rows: a hundred thousand of them with one value in the order, whose ids
 * go the other way, are all read for each page. Whatever took long once is read beside all else from then on.
 */

/** Whoever reads in the event loop for longer than this holds up all others, in milliseconds. */
const SLOW_MS = 20;

/** So long such lists are read beside all else, in milliseconds. */
const WARY_MS = 10 * 60_000;

/** Until when, by what is asked, with `performance.now()`. There are only so many such lists as a declaration permits. */
const slow = new WeakMap<Collection, Map<string, number>>();

export type AskedList = Pick<ListQuery, "collection" | "where" | "sort">;

/** Whether such a list took long, lately. */
export function isSlow(query: AskedList): boolean {
  const lists = slow.get(query.collection);
  return lists !== undefined && performance.now() < (lists.get(nameOf(query)) ?? 0);
}

/** Reads in the event loop, where the store does. `tell` is told of a list that takes long, once in a while. */
export function timed<T>(query: AskedList, read: () => Eventually<T>, tell: (ms: number) => void): Eventually<T> {
  const start = performance.now();
  const found = read();
  const now = performance.now();
  if (now - start <= SLOW_MS || found instanceof Promise) return found;
  let lists = slow.get(query.collection);
  if (lists === undefined) slow.set(query.collection, (lists = new Map<string, number>()));
  lists.set(nameOf(query), now + WARY_MS);
  tell(now - start);
  return found;
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
