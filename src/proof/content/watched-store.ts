import type { Collection, Store } from "../../store/store.ts";

/** A store that remembers its tables, and the tables that were written since `clear`. */
export interface WatchedStore {
  /** Wraps the store of a service. */
  wrap(store: Store): Store;
  /** The tables of the service. Empty before the service opens its store. */
  readonly collections: () => readonly Collection[];
  /** Returns the tables whose rows may have changed, with those that cascade from them. */
  touched(): readonly Collection[];
  /** Forgets the changes so far. */
  clear(): void;
}

/** Makes a watch for one store. */
export function watchStore(): WatchedStore {
  let all: readonly Collection[] = [];
  const touched = new Set<string>();
  const reached = new Map<string, readonly Collection[]>();
  return {
    wrap: (store) => ({
      ...store,
      open(collections) {
        all = collections;
        return store.open(collections);
      },
      write(transaction) {
        for (const { collection } of transaction.changes) touched.add(collection.name);
        return store.write(transaction);
      },
    }),
    collections: () => all,
    clear: () => touched.clear(),
    touched() {
      const key = [...touched].toSorted().join();
      const known = reached.get(key);
      if (known !== undefined) return known;
      const names = withCascades(touched, all);
      const found = all.filter(({ name }) => names.has(name));
      reached.set(key, found);
      return found;
    },
  };
}

/** Adds the tables whose rows refer to rows of these tables, at any depth. */
function withCascades(names: ReadonlySet<string>, all: readonly Collection[]): ReadonlySet<string> {
  const reached = new Set(names);
  for (let size = -1; size !== reached.size;) {
    size = reached.size;
    for (const { name, columns } of all)
      if (columns.some(({ references }) => references !== undefined && reached.has(references.collection)))
        reached.add(name);
  }
  return reached;
}
