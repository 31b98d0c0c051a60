import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "../../store.ts";
import { prepare } from "../connection/connection.ts";

/**
 * Returns true if the result of a read of a collection stays the same until the next commit. The result of a view can
 * change without a commit, because a view may use the clock or random values.
 */
export type IsLasting = (collection: Collection) => boolean;

/** Creates the check. It reads the schema once for each collection. */
export function lastingIn(database: DatabaseSync): IsLasting {
  const cache = new WeakMap<Collection, boolean>();
  const views = prepare(database, "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = ? COLLATE NOCASE");
  return (collection) => {
    if (collection.existing === undefined) return true;
    let isLasting = cache.get(collection);
    if (isLasting === undefined)
      cache.set(collection, (isLasting = views.get(collection.existing.table) === undefined));
    return isLasting;
  };
}
