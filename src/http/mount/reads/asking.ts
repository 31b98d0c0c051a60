import type { Eventually } from "../../../eventually.ts";
import {
  StoreTimeout,
  type BesideQuery,
  type ListQuery,
  type ListText,
  type Row,
  type Where,
  type RelatedQuery,
  type RelatedText,
} from "../../../store/store.ts";
import { holderOf } from "../../body/intake.ts";
import type { Exchange } from "../../exchange.ts";

/** A page for this caller, with what belongs to its rows where the store tells that at once. What no index serves waits for its turn. */
export function askForPage(
  exchange: Exchange,
  query: ListQuery,
  beside?: readonly BesideQuery[],
): Eventually<ListText> {
  const { store } = exchange.service;
  return query.long === true ? inTurn(exchange, query, () => store.listJSON(query)) : store.listJSON(query, beside);
}

/** Rows for this caller, likewise. */
export function askForRows(exchange: Exchange, query: ListQuery): Eventually<readonly Row[]> {
  const { store } = exchange.service;
  return query.long === true ? inTurn(exchange, query, () => store.list(query)) : store.list(query);
}

/** What belongs to some keys, likewise; null where it is too long. */
export function askForRelated(exchange: Exchange, query: RelatedQuery): Eventually<readonly RelatedText[] | null> {
  const { store } = exchange.service;
  const asked = { ...query, sort: [{ column: "id" }] };
  return query.long === true ? inTurn(exchange, asked, () => store.listRelated(query)) : store.listRelated(query);
}

/** How many rows there are; null where counting them takes too long. */
export async function askForCount(exchange: Exchange, { collection, where }: ListQuery): Promise<number | null> {
  const { longReads, store } = exchange.service;
  try {
    return await longReads.run(holderOf(exchange), () => store.count(collection, where, true));
  } catch (error) {
    if (error instanceof StoreTimeout) return null;
    throw error;
  }
}

type Searched = Pick<ListQuery, "collection" | "where" | "sort">;

async function inTurn<T>(exchange: Exchange, query: Searched, read: () => Eventually<T>): Promise<T> {
  const { longReads, observe } = exchange.service;
  try {
    return await longReads.run(holderOf(exchange), read);
  } catch (error) {
    if (error instanceof StoreTimeout) observe?.({ kind: "notice", level: "error", message: cureOf(query), error });
    throw error;
  }
}

/** What an operator can do. It names columns and no values, which may tell of people. */
function cureOf({ collection, where, sort }: Searched): string {
  const asked = where === null ? [] : conditionsIn(where);
  const order = sort.map(({ column, descending }) => (descending === true ? `-${column}` : column));
  return (
    `A list of ${collection.name} took too long and was given up: no index serves ` +
    `${asked.length === 0 ? "" : `the filters ${asked.join(", ")} with `}the order ${order.join(", ")}. ` +
    `Take the filter or the sort out of the declaration, or declare an index that has the filters with eq first and the order after them.`
  );
}

function conditionsIn(where: Where): readonly string[] {
  if ("all" in where) return where.all.flatMap(conditionsIn);
  if ("word" in where) return ["search"];
  if ("link" in where) return [where.linked];
  if ("not" in where) return conditionsIn(where.not);
  return "any" in where ? where.any.flatMap(conditionsIn) : [`${where.column}[${where.operator}]`];
}
