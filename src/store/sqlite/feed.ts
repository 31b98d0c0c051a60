import type { Collection, Feed, Row } from "../store.ts";
import type { Reader } from "./reads/reader.ts";

/** How many rows are taken in at a time. */
const pageSize = 1000;

/** Follows a collection. `version` changes whenever anyone has committed. */
export function followCollection(
  reader: Reader,
  version: () => number,
  collection: Collection,
  onRow: (row: Row) => void,
): Feed {
  if (collection.key !== "integer")
    throw new TypeError(`Collection ${collection.name} has text keys, which tell no order to follow`);
  let seenVersion: number | null = null;
  let seenId = 0;
  let closed = false;

  function catchUp(): void {
    if (closed) return;
    // Asked before the rows are read: what is committed in between will be seen again and not missed.
    const now = version();
    if (now === seenVersion) return;
    while (takePage() === pageSize);
    seenVersion = now;
  }

  /** Keys are handed out in the order of the commits, since only one connection writes at a time. */
  function takePage(): number {
    const rows = reader.list({
      collection,
      where: { column: "id", operator: "gt", value: seenId },
      sort: [{ column: "id" }],
      limit: pageSize,
    });
    for (const row of rows) {
      // Told again where that fails: a revocation that was passed over would be none.
      onRow(row);
      seenId = row.record["id"] as number;
    }
    return rows.length;
  }

  catchUp();
  return {
    catchUp,
    ageMs: () => 0,
    close() {
      closed = true;
    },
  };
}
