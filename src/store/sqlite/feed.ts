import type { Collection, Feed, Row } from "../store.ts";
import type { SQLiteReader } from "./reads/reader.ts";

/** The number of rows that are read at a time. */
const pageSize = 1000;

/** Follows a collection. `version` changes after every commit. */
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
    // The version is read before the rows. A commit in between is then read twice and never missed.
    const now = version();
    if (now === seenVersion) return;
    while (takePage() === pageSize);
    seenVersion = now;
  }

  /** Reads the next rows. The order of the keys is the order of the commits, because only one connection writes at a time. */
  function takePage(): number {
    const rows = reader.list({
      collection,
      where: { column: "id", operator: "gt", value: seenId },
      sort: [{ column: "id" }],
      limit: pageSize,
    });
    for (const row of rows) {
      // If the callback throws, the same row is delivered again. A skipped revocation would have no effect.
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
