import type { Witness } from "../../access/scheme/explanation.ts";
import type { IdentifiedCaller } from "../../access/scheme/scheme-set.ts";
import { isUnsafe, requireSameSite } from "../../core/call/cross-site.ts";
import { after, type Eventually } from "../../core/eventually.ts";
import { getExchange, type Context, type Exchange } from "../request/exchange.ts";
import { requirePermission } from "../request/permitting.ts";
import { identifyTolerantly } from "./tolerating.ts";

/**
 * Identifies the caller. Ends the request if its credential is wrong, or if a page of another site made a browser send
 * it.
 */
export function identify(exchange: Exchange, witness: Witness | null): Eventually<void> {
  return after(identifyCaller(exchange, witness), (identified) => requireCredential(exchange, identified));
}

/**
 * Identifies the caller, as `identify`, and returns the result. A rejected cookie does not end the request yet, because
 * the endpoint may not be known.
 */
export function identifyCaller(exchange: Exchange, witness: Witness | null): Eventually<IdentifiedCaller> {
  const { service, call } = exchange;
  return after(service.schemeSet.identify(call, witness), (identified) => {
    exchange.identified = identified;
    if (identified.ambient && isUnsafe(call.method)) requireSameSite(call, service.sameSiteOrigins);
    return identified;
  });
}

/** Ends the request if its only credentials are rejected cookies, and its endpoint needs a caller. */
export function requireCredential(exchange: Exchange, identified: IdentifiedCaller): Eventually<void> {
  if (identified.identity === null && identified.passedOver.length > 0) return requireNoCaller(exchange, identified);
}

/**
 * Ends the request if the permission does not allow an unknown caller. Only then do the rejected cookies count as
 * guesses.
 */
function requireNoCaller(exchange: Exchange, { passedOver }: IdentifiedCaller): Eventually<void> {
  const { service, call } = exchange;
  try {
    requirePermission(exchange);
  } catch (error) {
    return after(service.schemeSet.countGuesses(call, passedOver), () => {
      throw error;
    });
  }
}

/** The time after which a body is late, in milliseconds. The caller may have lost access while the body arrived. */
const LATE_MS = 100;

/**
 * Waits for the body of the request. If the body was late, identifies the caller and asks the permission again, because
 * the login may have ended in the meantime.
 */
export function waitForBody(exchange: Exchange, body: () => Eventually<void>): Eventually<void> {
  const since = performance.now();
  const read = body();
  if (!(read instanceof Promise)) return;
  return read.then(async () => {
    if (!exchange.wasIdentified || performance.now() - since < LATE_MS) return;
    if (exchange.endpoint.refusals === "reported") exchange.identified = await identifyTolerantly(exchange, null);
    else await identifyAgain(exchange);
  });
}

async function identifyAgain(exchange: Exchange): Promise<void> {
  const before = exchange.observedIdentity;
  await identify(exchange, null);
  // The request started with an identified caller, and must not continue without one.
  if (before !== null) exchange.requireIdentity();
  exchange.only = null;
  requirePermission(exchange);
}

/**
 * Ends the request if its caller has lost access since it started. For slow requests that create an account or a
 * credential.
 */
export async function requireStillKnown(context: Context): Promise<void> {
  const exchange = getExchange(context);
  if (exchange.wasIdentified) await identifyAgain(exchange);
}
