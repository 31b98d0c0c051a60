import { after, type Eventually } from "../../core/eventually.ts";
import type { Answer } from "../answer/writing.ts";
import type { Exchange } from "../exchange.ts";
import type { LimitedEndpoint, RequestLimiter } from "./limiting.ts";

/** Asks every limiter in turn, and keeps their header fields for the response. */
export function askLimiters(
  limiters: readonly RequestLimiter[],
  stage: keyof RequestLimiter,
  exchange: Exchange,
  endpoint: LimitedEndpoint,
): Eventually<void> {
  const [first, ...others] = limiters;
  if (first === undefined) return undefined;
  const { call, params, observedIdentity: identity } = exchange;
  const asked = first[stage]({ call, endpoint, params, identity });
  return after(call.awaiting("A limiter of requests", asked), (fields) => {
    if (fields.length > 0) exchange.limits = [...exchange.limits, ...fields];
    return askLimiters(others, stage, exchange, endpoint);
  });
}

/** Adds the header fields of the limits. Not to a response that shared caches may give to others. */
export function addLimits({ limits }: Exchange, { headers }: Answer): void {
  const caching = headers[headers.indexOf("Cache-Control") + 1] ?? "";
  if (!caching.startsWith("public")) for (const [name, value] of limits) headers.push(name, value);
}
