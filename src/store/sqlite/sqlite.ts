import { resolve } from "node:path";
import type { Observer } from "../../observation.ts";
import { StoreUnavailable, type Collection, type Store } from "../store.ts";
import { memoryOpener, openFile, type Engine } from "./engine.ts";
import { storeError } from "./errors.ts";
import { followCollection } from "./feed.ts";

/** Where a SQLite store is kept. */
export interface SQLiteStoreOptions {
  /** A file, or `:memory:` for a store that ends with the process. */
  readonly path: string;
  /** Is told when writes begin to fail and when they succeed again. */
  readonly observe?: Observer;
}

/** A store in SQLite. Any number of processes may share the file. */
export function sqliteStore({ path, observe = () => {} }: SQLiteStoreOptions): Store {
  const openEngine: (collections: readonly Collection[]) => Engine =
    path === ":memory:" ? memoryOpener() : (collections) => openFile(resolve(path), collections, observe);
  let engine: Engine | null = null;

  function opened(): Engine {
    if (engine === null) throw notOpen();
    return engine;
  }

  async function close(): Promise<void> {
    const closing = engine;
    engine = null;
    await closing?.close();
  }

  return {
    async open(collections) {
      await close();
      try {
        engine = openEngine(collections);
      } catch (error) {
        throw storeError(error);
      }
    },
    find: (collection, key) => opened().reader.find(collection, key),
    findBy: (collection, column, value) => opened().reader.findBy(collection, column, value),
    list: (query) => opened().reader.list(query),
    listJSON: (query) => opened().reader.listJSON(query),
    count: (collection, where) => opened().reader.count(collection, where),
    recall: (idempotency) => opened().reader.recall(idempotency),
    write(transaction) {
      if (engine === null) return Promise.reject(notOpen());
      return engine.write(transaction);
    },
    async follow(collection, onRow) {
      const { reader, version } = opened();
      return followCollection(reader, version, collection, onRow);
    },
    async check() {
      try {
        opened().check();
      } catch (error) {
        throw storeError(error);
      }
    },
    close,
  };
}

function notOpen(): StoreUnavailable {
  return new StoreUnavailable("SQLite: the store is not open");
}
