import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "../../store.ts";
import { prepare } from "../connection.ts";

/** Whether what was read of a collection is the same until somebody commits: what a view shows may depend on the clock, or on chance. */
export type IsLasting = (collection: Collection) => boolean;

/** Looks once for each collection. */
export function lastingIn(database: DatabaseSync): IsLasting {
  const known = new WeakMap<Collection, boolean>();
  const views = prepare(database, "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = ? COLLATE NOCASE");
  return (collection) => {
    if (collection.existing === undefined) return true;
    let isLasting = known.get(collection);
    if (isLasting === undefined)
      known.set(collection, (isLasting = views.get(collection.existing.table) === undefined));
    return isLasting;
  };
}
