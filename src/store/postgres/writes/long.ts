import type { Transaction } from "../../store.ts";

/** From this number of changes, a transaction counts as long. */
const MANY_CHANGES = 100;

/** From this number of rows of a relation, a statement counts as long. Fewer take some milliseconds. */
const MANY_LINKS = 1000;

/** Returns true for a transaction of many changes, such as an array of records. It may take seconds. */
export function isLongWrite({ changes }: Transaction): boolean {
  if (changes.length > MANY_CHANGES) return true;
  const links = changes.reduce((sum, change) => sum + (change.kind === "link" ? change.ids.length : 0), 0);
  return links > MANY_LINKS;
}
