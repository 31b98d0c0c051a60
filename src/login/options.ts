import { aBoolean, aWholeNumber, membersMistakes, optional, type Check, type Checks } from "../checking/members.ts";
import { DeclarationError } from "../resource/declaration-error.ts";
import type { LoginOptions } from "./login.ts";

/** How each of some options is checked. */
export type ChecksOf<Options> = Readonly<Record<keyof Options, Check>>;

/** Of what every way of logging in can be told. */
export const loginChecks: ChecksOf<LoginOptions> = { enabled: optional(aBoolean) };

/** Throws `DeclarationError` with every option that does not exist, or is wrong; from `setUp`, so that the feature is named. */
export function requireOptions(options: object, checks: Checks): void {
  const mistakes = membersMistakes({ ...options }, checks);
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
}

/** A time in seconds; it may be left out. */
export function secondsFrom(least: 0 | 1): Check {
  return optional((value) => {
    const wrong = aWholeNumber(value);
    return wrong === null && (value as number) >= least ? null : `it has to be a whole number of seconds from ${least}`;
  });
}
