import { exchangeOf, type Context } from "../exchange.ts";
import { tooLate } from "./in-flight.ts";

/** Ends a request whose caller was told already that it took too long. */
export function requireInTime(context: Context): void {
  if (exchangeOf(context).phase === "over") throw tooLate();
}
