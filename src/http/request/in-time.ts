import type { Eventually } from "../../core/eventually.ts";
import { getExchange, type Context } from "./exchange.ts";
import { tooLate } from "./in-flight.ts";

/** The time limit of `awaitSoon`, in milliseconds. */
const SOON_MS = 500;

/** Ends a request that has already been answered with 503, because it took too long. */
export function requireInTime(context: Context): void {
  if (getExchange(context).phase === "over") throw tooLate();
}

/** Waits for a value, up to `SOON_MS`. Returns null if that is too short. */
export async function awaitSoon<T>(pending: Eventually<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, SOON_MS, null);
  try {
    return await Promise.race([pending, late]);
  } finally {
    clearTimeout(timer);
  }
}
