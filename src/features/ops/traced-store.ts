import type { Tracer } from "../../core/tracer.ts";
import type { Store } from "../../store/store.ts";

/** Wraps a store so that a tracer sees each read and write. */
export function tracedStore(store: Store, tracer: Tracer): Store {
  const seen = <T>(operation: string, collection: string, work: () => T): T =>
    tracer.part(`store ${operation}`, { "db.operation.name": operation, "db.collection.name": collection }, work);
  return {
    ...store,
    find: (collection, key) => seen("find", collection.name, () => store.find(collection, key)),
    findBy: (collection, column, value) =>
      seen("findBy", collection.name, () => store.findBy(collection, column, value)),
    list: (query) => seen("list", query.collection.name, () => store.list(query)),
    listJSON: (query, beside) => seen("list", query.collection.name, () => store.listJSON(query, beside)),
    listRelated: (query) => seen("list", query.collection.name, () => store.listRelated(query)),
    count: (collection, where, long) => seen("count", collection.name, () => store.count(collection, where, long)),
    write(transaction) {
      const names = transaction.changes.map(({ collection }) => collection.name);
      return seen("write", [...new Set(names)].join(" "), () => store.write(transaction));
    },
  };
}
