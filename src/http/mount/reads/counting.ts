import type { Eventually } from "../../../core/eventually.ts";
import type { ListQuery } from "../../../store/store.ts";
import type { Exchange } from "../../request/exchange.ts";
import { askForCount } from "./asking.ts";

type CountHeaders = readonly (readonly [string, string])[];

/**
 * Returns the headers with the count. Returns null if the caller did not request a count, or if counting takes too
 * long.
 */
export function buildCountHeaders(
  exchange: Exchange,
  query: ListQuery,
  wanted = exchange.preferences?.get("count"),
): Eventually<CountHeaders | null> {
  if (wanted === "exact") return countRows(exchange, query);
  return wanted === "estimated" ? estimateRows(exchange, query) : null;
}

async function countRows(exchange: Exchange, query: ListQuery): Promise<CountHeaders | null> {
  return reportCount(exchange, "exact", await askForCount(exchange, query));
}

/**
 * A list that a permission narrows is counted exactly, because an estimate would include rows that the caller must not
 * know of.
 */
async function estimateRows(exchange: Exchange, query: ListQuery): Promise<CountHeaders | null> {
  const { store } = exchange.service;
  const estimate = query.where === null ? ((await store.estimate?.(query.collection)) ?? null) : null;
  return estimate === null ? countRows(exchange, query) : reportCount(exchange, "estimated", estimate);
}

function reportCount(exchange: Exchange, how: "exact" | "estimated", count: number | null): CountHeaders | null {
  if (count === null) return null;
  exchange.follow(`count=${how}`);
  return [["X-Total-Count", String(count)]];
}
