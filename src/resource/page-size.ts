import {
  aWholeNumber,
  membersMistakes,
  optional,
  together,
  wholeFrom,
  type Members,
} from "../core/checking/members.ts";

/** How many records a page has unless the caller or its declaration says it. */
export const DEFAULT_LIMIT = 100;
/** The most records that a page can have. */
export const MAX_LIMIT = 1000;

/** What is wrong with the page size of a declaration; null where nothing is. */
export function pageSizeMistake({ maximum = MAX_LIMIT, ...more }: Members): string | null {
  const most = aWholeNumber(maximum) === null ? Number(maximum) : MAX_LIMIT;
  const members = { default: optional(wholeFrom(1, most)), maximum: wholeFrom(1, MAX_LIMIT) };
  return together(membersMistakes({ ...more, maximum }, members));
}
