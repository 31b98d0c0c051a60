import { after, type Eventually } from "../../core/eventually.ts";
import type { Exchange } from "../request/exchange.ts";
import type { LimitedEndpoint, LimitFields, RequestLimiter } from "../request/limiting.ts";
import type { Answer } from "./writing.ts";

/** Asks the limiters one after another, and stores their header fields for the response. */
export function askLimiters(
  limiters: readonly RequestLimiter[],
  stage: "arriving" | "identified",
  exchange: Exchange,
  endpoint: LimitedEndpoint,
): Eventually<void> {
  const [first, ...others] = limiters;
  if (first === undefined) return undefined;
  const { call, params, observedIdentity: identity } = exchange;
  const answer = first[stage]({ call, endpoint, params, identity });
  return after(call.awaiting("A limiter of requests", answer), (fields) => {
    if (fields.length > 0) exchange.limits = [...exchange.limits, ...fields];
    return askLimiters(others, stage, exchange, endpoint);
  });
}

/** Asks the limiters about a form whose method is known, for the limits that did not apply when it arrived. */
export async function askSettledLimiters(
  limiters: readonly RequestLimiter[],
  exchange: Exchange,
  arrived: LimitedEndpoint,
): Promise<void> {
  const { call, params, endpoint } = exchange;
  for (const limiter of limiters) {
    const answer = limiter.settled?.({ call, endpoint, params, identity: null }, arrived);
    exchange.limits = [...exchange.limits, ...((await call.awaiting("A limiter of requests", answer)) ?? [])];
  }
}

/**
 * Asks every limiter about the records of an array. The header fields of this count replace the earlier fields of the
 * same policy.
 */
export async function askLimitersOfArray(exchange: Exchange, records: number): Promise<void> {
  const { call, params, endpoint, observedIdentity: identity, service } = exchange;
  if (records < 2) return;
  for (const limiter of service.limiters) {
    const answer = limiter.records?.({ call, endpoint, params, identity }, records - 1);
    const before = exchange.limits;
    // If the limiter refuses the request, its problem contains the header fields. The earlier fields must not be sent
    // too.
    exchange.limits = [];
    const fields = (await call.awaiting("A limiter of requests", answer)) ?? [];
    const policies = new Set(fields.map(formatPolicy));
    exchange.limits = [...before.filter((each) => !policies.has(formatPolicy(each))), ...fields];
  }
}

/** Returns the name of a header field with the name of its policy: `RateLimit "burst"`. */
function formatPolicy([name, value]: LimitFields[number]): string {
  return `${name} ${value.split(";", 1)[0]!}`;
}

/** Adds the header fields of the limits, except to a response that shared caches may send to other callers. */
export function addLimits({ limits }: Exchange, { headers }: Answer): void {
  const caching = headers[headers.indexOf("Cache-Control") + 1] ?? "";
  if (!caching.startsWith("public")) for (const [name, value] of limits) headers.push(name, value);
}
