import type { Change } from "../../../store/store.ts";
import { inTurns } from "../../body/turns.ts";
import { invalid } from "../../exchange.ts";
import { countLinkRows } from "../links.ts";
import type { MountInPlace } from "../mount.ts";

/** The most changes of one array: more would keep a connection, and everyone who writes, for seconds. */
export const MAX_CHANGES = 5000;

/** As many rows of relations count as one change: one statement writes thousands of them. */
const LINK_ROWS = 100;

/** Returns the count of changes with those that write `linkRows` rows of relations. */
export function weightOf(changes: number, linkRows: number): number {
  return changes + Math.ceil(linkRows / LINK_ROWS);
}

/** Returns true if a change is counted by the rows of relations that it writes. */
export function isOfRelation({ kind, collection }: Change): boolean {
  return kind === "link" || (kind === "deleteAll" && collection.links !== undefined);
}

/** Ends the request if the records of its array alone cause too many changes, which is known before any hook is asked. */
export async function requireFewRecords(
  { links }: Pick<MountInPlace, "links">,
  written: readonly Parameters<typeof countLinkRows>[1][],
): Promise<void> {
  if (links.length === 0) return;
  let linkRows = 0;
  await inTurns(written, (each) => void (linkRows += countLinkRows(links, each)));
  requireFewChanges(weightOf(written.length, linkRows));
}

/** Ends the request if its array causes more changes than one transaction makes. */
export function requireFewChanges(weight: number): void {
  if (weight <= MAX_CHANGES) return;
  const detail =
    `The array causes ${weight} changes, and at most ${MAX_CHANGES} are allowed. ` +
    `${LINK_ROWS} ids that are added to a list or taken out of it count as one. Send fewer records at once.`;
  throw invalid([{ pointer: "", code: "too_many", detail }]);
}
