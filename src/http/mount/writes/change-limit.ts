import type { Change } from "../../../store/store.ts";
import { countLinkRows } from "../../declarations/links.ts";
import type { ServedMount } from "../../declarations/mount.ts";
import { invalid } from "../../request/exchange.ts";
import { inTurns } from "../../scheduling/slices.ts";

/** The maximum number of changes that one array may cause. More changes would block all other writes for seconds. */
export const MAX_CHANGES = 5000;

/** Returns true if the limit counts the link table rows of a change and not the change. */
export function isOfRelation({ kind, collection }: Change): boolean {
  return kind === "link" || (kind === "deleteAll" && collection.links !== undefined);
}

/** Ends the request if the records of the array alone are too many changes. Checked before any hook runs. */
export async function requireFewRecords(
  { links }: Pick<ServedMount, "links">,
  written: readonly Parameters<typeof countLinkRows>[1][],
): Promise<void> {
  if (links.length === 0) return;
  let linkRows = 0;
  await inTurns(written, (each) => void (linkRows += countLinkRows(links, each)));
  requireFewChanges(written.length + linkRows);
}

/** Ends the request if its array causes more changes than one transaction allows. */
export function requireFewChanges(changes: number): void {
  if (changes <= MAX_CHANGES) return;
  const detail =
    `The array causes ${changes} changes, and at most ${MAX_CHANGES} are allowed. ` +
    "Each id that is added to a list or taken out of it counts as one. Send fewer records at once.";
  throw invalid([{ pointer: "", code: "too_many", detail }]);
}
