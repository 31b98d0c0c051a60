import type { Eventually } from "../../eventually.ts";
import { StoreOverdue, type ListQuery, type ListText, type Row, type Where } from "../../store/store.ts";
import type { Exchange } from "../exchange.ts";
import { holderOf } from "../intake.ts";

/** A page for this caller. What no index serves waits for its turn. */
export function askForPage(exchange: Exchange, query: ListQuery): Eventually<ListText> {
  const { store } = exchange.service;
  return query.long === true ? inTurn(exchange, query, () => store.listJSON(query)) : store.listJSON(query);
}

/** Rows for this caller, likewise. */
export function askForRows(exchange: Exchange, query: ListQuery): Eventually<readonly Row[]> {
  const { store } = exchange.service;
  return query.long === true ? inTurn(exchange, query, () => store.list(query)) : store.list(query);
}

/** How many rows there are; null where counting them takes too long. */
export async function askForCount(exchange: Exchange, { collection, where }: ListQuery): Promise<number | null> {
  const { longReads, store } = exchange.service;
  try {
    return await longReads.run(holderOf(exchange), () => store.count(collection, where, true));
  } catch (error) {
    if (error instanceof StoreOverdue) return null;
    throw error;
  }
}

async function inTurn<T>(exchange: Exchange, query: ListQuery, read: () => Eventually<T>): Promise<T> {
  const { longReads, observe } = exchange.service;
  try {
    return await longReads.run(holderOf(exchange), read);
  } catch (error) {
    if (error instanceof StoreOverdue) observe?.({ kind: "notice", level: "error", message: cureOf(query), error });
    throw error;
  }
}

/** What an operator can do. It names columns and no values, which may tell of people. */
function cureOf({ collection, where, sort }: ListQuery): string {
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
  return "any" in where ? where.any.flatMap(conditionsIn) : [`${where.column}[${where.operator}]`];
}
