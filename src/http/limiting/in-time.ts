import type { Eventually } from "../../core/eventually.ts";
import { exchangeOf, type Context } from "../exchange.ts";
import { tooLate } from "./in-flight.ts";

/** So long what is given as soon as can be may take, in milliseconds. */
const SOON_MS = 500;

/** Ends a request whose caller was told already that it took too long. */
export function requireInTime(context: Context): void {
  if (exchangeOf(context).phase === "over") throw tooLate();
}

/** What is given soon; null where it is not. */
export async function soonOf<T>(given: Eventually<T>): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, SOON_MS, null);
  try {
    return await Promise.race([given, late]);
  } finally {
    clearTimeout(timer);
  }
}
