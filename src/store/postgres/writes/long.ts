import type { Transaction } from "../../store.ts";

/** A transaction with more changes counts as long. */
const MANY_CHANGES = 100;

/** A transaction with more rows of relations counts as long. Fewer rows take some milliseconds. */
const MANY_LINKS = 1000;

/** Returns true for a transaction of many changes, such as an array of records. It may take seconds. */
export function isLongWrite({ changes }: Transaction): boolean {
  if (changes.length > MANY_CHANGES) return true;
  const links = changes.reduce((sum, change) => sum + (change.kind === "link" ? change.ids.length : 0), 0);
  return links > MANY_LINKS;
}
