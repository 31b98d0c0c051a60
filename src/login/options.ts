import { aBoolean, aWholeNumber, optional, type Check } from "../checking/members.ts";
import type { ChecksOf } from "../checking/options.ts";
import type { LoginOptions } from "./login.ts";

/** Of what every way of logging in can be told. */
export const loginChecks: ChecksOf<LoginOptions> = { enabled: optional(aBoolean) };

/** A time in seconds; it may be left out. */
export function secondsFrom(least: 0 | 1): Check {
  return optional((value) => {
    const wrong = aWholeNumber(value);
    return wrong === null && (value as number) >= least ? null : `it has to be a whole number of seconds from ${least}`;
  });
}
