import {
  aWholeNumber,
  membersMistakes,
  optional,
  joinMistakes,
  wholeFrom,
  type Members,
} from "../core/checking/members.ts";

/** The number of records on a page, unless the caller or the declaration sets it. */
export const DEFAULT_LIMIT = 100;
/** The largest number of records on a page. */
export const MAX_LIMIT = 1000;

/** Returns the mistake in the page size of a declaration. Returns null if there is none. */
export function pageSizeMistake({ maximum = MAX_LIMIT, ...more }: Members): string | null {
  const most = aWholeNumber(maximum) === null ? Number(maximum) : MAX_LIMIT;
  const members = { default: optional(wholeFrom(1, most)), maximum: wholeFrom(1, MAX_LIMIT) };
  return joinMistakes(membersMistakes({ ...more, maximum }, members));
}
