import { aBoolean, aWholeNumber, optional, type Check } from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { LoginOptions } from "./login.ts";

/** Of what every way of logging in can be told. */
export const loginChecks: ChecksOf<LoginOptions> = { enabled: optional(aBoolean) };

/** Throws a TypeError where a login that is turned off is to start something: nobody would be known by it. */
export function requireOn(enabled: boolean, login: string): void {
  if (enabled) return;
  throw new TypeError(
    `${login} is turned off, so that whoever logs in by it would be nobody at the next request. Turn it on, or leave out what starts it.`,
  );
}

export const DAY_SECONDS = 86_400;

/** How often what has ended for good is forgotten. */
export const PRUNE_SECONDS = 60;

/** What is wrong with lives of which each bounds the one before it: one sentence for each pair. */
export function livesMistakes(lives: Readonly<Record<string, number>>): readonly string[] {
  // What is no number is told by itself.
  const all = Object.entries(lives).filter(([, seconds]) => Number.isFinite(seconds));
  return all.flatMap(([name, seconds], at) => {
    const [outer, most] = all[at + 1] ?? [name, seconds];
    return seconds > most
      ? [`${name} (${seconds}) is longer than ${outer} (${most}), which ends it; make it shorter, or the other longer`]
      : [];
  });
}

/** A time in seconds; it may be left out. */
export function secondsFrom(least: 0 | 1): Check {
  return optional((value) => {
    const wrong = aWholeNumber(value);
    return wrong === null && (value as number) >= least ? null : `it has to be a whole number of seconds from ${least}`;
  });
}
