import type { Collection, Where } from "../../store.ts";
import type { IsLasting } from "../existing/views.ts";

/** How many rows there were for a condition (the very object), or in a collection where that is null. */
export interface RememberedCounts {
  /** Null where nobody has counted, or somebody has committed since. */
  find(collection: Collection, where: Where | null): number | null;
  /** `version` as it was before the rows were counted. */
  keep(collection: Collection, where: Where | null, count: number, version: number): void;
}

/** Remembers each count until somebody has committed anything: whoever turns pages counts the same rows at each. */
export function rememberedCounts(version: () => number, isLasting: IsLasting): RememberedCounts {
  const remembered = new WeakMap<Collection, WeakMap<object, { readonly version: number; readonly count: number }>>();
  return {
    find(collection, where) {
      const known = remembered.get(collection)?.get(where ?? collection);
      return known !== undefined && known.version === version() ? known.count : null;
    },
    keep(collection, where, count, now) {
      if (!isLasting(collection)) return;
      let counts = remembered.get(collection);
      if (counts === undefined) remembered.set(collection, (counts = new WeakMap()));
      counts.set(where ?? collection, { version: now, count });
    },
  };
}
