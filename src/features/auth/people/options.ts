import { aBoolean, aWholeNumber, optional, type ValueCheck } from "../../../core/checking/members.ts";
import type { ChecksOf } from "../../../core/checking/options.ts";
import type { LoginOptions } from "./people.ts";

/** Checks of the options of every login feature. */
export const loginChecks: ChecksOf<LoginOptions> = { enabled: optional(aBoolean) };

/**
 * Throws a TypeError if a disabled login feature is asked to start a login, because its credentials would be refused.
 */
export function requireOn(enabled: boolean, login: string): void {
  if (enabled) return;
  throw new TypeError(
    `${login} is turned off, so a user who logs in with it would be unknown at the next request. Turn it on, or leave out the login.`,
  );
}

export const DAY_SECONDS = 86_400;

/** The interval at which expired records are deleted. */
export const PRUNE_SECONDS = 60;

/** Returns the mistakes in a list of lifetimes. No lifetime may be longer than the next one in the list. */
export function livesMistakes(lives: Readonly<Record<string, number>>): readonly string[] {
  // Values that are not numbers are reported separately.
  const all = Object.entries(lives).filter(([, seconds]) => Number.isFinite(seconds));
  return all.flatMap(([name, seconds], at) => {
    const [outer, most] = all[at + 1] ?? [name, seconds];
    return seconds > most
      ? [`${name} (${seconds}) is longer than ${outer} (${most}), its limit; make it shorter, or the limit longer`]
      : [];
  });
}

/** Returns the check of an optional number of seconds. `least` is the smallest valid number. */
export function secondsFrom(least: 0 | 1): ValueCheck {
  return optional((value) => {
    const wrong = aWholeNumber(value);
    return wrong === null && (value as number) >= least ? null : `it has to be a whole number of seconds from ${least}`;
  });
}
