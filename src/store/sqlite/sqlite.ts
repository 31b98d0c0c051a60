import { resolve } from "node:path";
import type { Observer } from "../../observation.ts";
import { storeOver } from "../sql/store.ts";
import { StoreUnavailable, type Store } from "../store.ts";
import { memoryOpener, openFile } from "./engine.ts";
import { storeError } from "./errors.ts";
import { walBytes } from "./place.ts";

/** Where a SQLite store is kept. */
export interface SQLiteStoreOptions {
  /** A file, or `:memory:` for a store that ends with the process. */
  readonly path: string;
  /** Is told when writes begin to fail and when they succeed again. */
  readonly observe?: Observer;
}

/** A store in SQLite. Any number of processes may share the file. */
export function sqliteStore({ path, observe = () => {} }: SQLiteStoreOptions): Store {
  const openEngine = path === ":memory:" ? memoryOpener() : openFile(resolve(path), observe);
  const store = storeOver(
    async (collections) => {
      try {
        return openEngine(collections);
      } catch (error) {
        throw storeError(error);
      }
    },
    () => new StoreUnavailable("SQLite: the store is not open"),
  );
  return path === ":memory:" ? store : { ...store, walBytes: () => walBytes(resolve(path)) };
}
