import type { Store } from "./store.ts";

/** What only looks: handlers and hooks are given this much of a store. */
export type StoreReader = Pick<Store, "find" | "findBy" | "list" | "listJSON" | "count">;

/** The reading half of a store, and nothing by which the other could be reached. */
export function readerOf(store: Store): StoreReader {
  return Object.freeze({
    find: store.find.bind(store),
    findBy: store.findBy.bind(store),
    list: store.list.bind(store),
    listJSON: store.listJSON.bind(store),
    count: store.count.bind(store),
  });
}
