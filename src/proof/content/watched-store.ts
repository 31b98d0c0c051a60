import type { Collection, Store } from "../../store/store.ts";

/** A store that remembers its tables, and the tables that were written since `clear`. */
export interface WatchedStore {
  /** Wraps the store of a service. */
  wrap(store: Store): Store;
  /** The tables of the service in memory. Empty before the service opens its store. */
  readonly collections: () => readonly Collection[];
  /** Returns the reason why a table is not in memory. Returns null if it is. */
  whyMissing(table: string): string | null;
  /** Returns the tables whose rows may have changed, with those that cascade from them. */
  touched(): readonly Collection[];
  /** Forgets the changes so far. */
  clear(): void;
}

/** Makes a watch for one store. */
export function watchStore(): WatchedStore {
  let all: readonly Collection[] = [];
  let missing: ReadonlyMap<string, string> = new Map();
  const touched = new Set<string>();
  const reached = new Map<string, readonly Collection[]>();
  return {
    wrap: (store) => ({
      ...store,
      open(collections) {
        missing = findMissing(collections);
        all = collections.filter(({ name }) => !missing.has(name));
        return store.open(all);
      },
      // The start asks every table whether it has records.
      list: (query) => (missing.has(query.collection.name) ? Promise.resolve([]) : store.list(query)),
      write(transaction) {
        for (const { collection } of transaction.changes) touched.add(collection.name);
        return store.write(transaction);
      },
    }),
    collections: () => all,
    whyMissing: (table) => missing.get(table) ?? null,
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

/** Returns the tables that a database in memory does not have, by name, with the reasons. */
function findMissing(all: readonly Collection[]): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  for (const { name, existing, computed = [] } of all) {
    const foreign = computed.find(({ sql }) => sql.sqlite === undefined);
    if (existing !== undefined) missing.set(name, "its records are in an existing table");
    else if (foreign !== undefined) missing.set(name, `only PostgreSQL computes its field ${foreign.name}`);
  }
  for (let size = -1; size !== missing.size;) {
    size = missing.size;
    for (const { name, columns } of all)
      for (const { references } of columns)
        if (references !== undefined && missing.has(references.collection) && !missing.has(name))
          missing.set(name, `its records refer to ${references.collection}, which are not in memory`);
  }
  return missing;
}
