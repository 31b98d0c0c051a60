import type { Collection, Feed, Row } from "../store.ts";
import type { SQLiteReader } from "./reads/reader.ts";

/** The number of rows that are read at a time. */
const pageSize = 1000;

/**
 * Calls `onRow` for each row of a collection, and at each `catchUp` for the rows that were added since. `version`
 * returns a number that changes after every commit.
 */
export function followCollection(
  reader: SQLiteReader,
  version: () => number,
  collection: Collection,
  onRow: (row: Row) => void,
): Feed {
  if (collection.key !== "integer")
    throw new TypeError(`Collection ${collection.name} has text keys, which have no order to follow`);
  let seenVersion: number | null = null;
  let seenId = 0;
  let closed = false;

  function catchUp(): void {
    if (closed) return;
    // The version is read before the rows. The rows of a commit in between are read now, and the next call looks again,
    // so none is missed.
    const now = version();
    if (now === seenVersion) return;
    while (takePage() === pageSize);
    seenVersion = now;
  }

  /** Reads the next rows by key. Only one connection writes at a time, so keys increase in the order of the commits. */
  function takePage(): number {
    const rows = reader.list({
      collection,
      where: { column: "id", operator: "gt", value: seenId },
      sort: [{ column: "id" }],
      limit: pageSize,
    });
    for (const row of rows) {
      // If the callback throws, the next call delivers the same row again. The row may be a revocation, which must not
      // be skipped.
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
