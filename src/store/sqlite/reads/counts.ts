import type { Collection, Where } from "../../store.ts";
import type { IsLasting } from "../existing/views.ts";

/**
 * The cached counts of rows that match a condition, or of all rows if the condition is null. A condition is identified
 * by its object.
 */
export interface RememberedCounts {
  /** Returns null if there is no count, or if a transaction has committed since. */
  find(collection: Collection, where: Where | null): number | null;
  /** Stores a count. `version` is the version from before the count. */
  keep(collection: Collection, where: Where | null, count: number, version: number): void;
}

/** Caches each count until the next commit. A client that reads page after page asks for the same count each time. */
export function rememberedCounts(version: () => number, isLasting: IsLasting): RememberedCounts {
  const remembered = new WeakMap<Collection, WeakMap<object, { readonly version: number; readonly count: number }>>();
  return {
    find(collection, where) {
      const entry = remembered.get(collection)?.get(where ?? collection);
      return entry !== undefined && entry.version === version() ? entry.count : null;
    },
    keep(collection, where, count, now) {
      if (!isLasting(collection)) return;
      let counts = remembered.get(collection);
      if (counts === undefined) remembered.set(collection, (counts = new WeakMap()));
      counts.set(where ?? collection, { version: now, count });
    },
  };
}
