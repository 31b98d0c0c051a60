import type { Transaction } from "../../store.ts";

/** As many statements as one turn sends. */
const MANY_CHANGES = 100;

/** A statement with fewer rows of a relation takes some milliseconds. */
const MANY_LINKS = 1000;

/** Returns true for a transaction of many changes, as an array of records causes it. It may take seconds. */
export function isLongWrite({ changes }: Transaction): boolean {
  if (changes.length > MANY_CHANGES) return true;
  const links = changes.reduce((sum, change) => sum + (change.kind === "link" ? change.ids.length : 0), 0);
  return links > MANY_LINKS;
}
