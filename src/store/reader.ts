import type { Store } from "./store.ts";

/** The methods of a store that only read. Handlers and hooks receive these. */
export type StoreReader = Pick<Store, "find" | "findBy" | "list" | "listJSON" | "count">;

/** Returns only the reading methods of a store. The result gives no access to the methods that write. */
export function createStoreReader(store: Store): StoreReader {
  return Object.freeze({
    find: store.find.bind(store),
    findBy: store.findBy.bind(store),
    list: store.list.bind(store),
    listJSON: store.listJSON.bind(store),
    count: store.count.bind(store),
  });
}
