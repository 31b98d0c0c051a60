import { aFunction, optional, text, wholeFrom } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import type { Observer } from "../../core/observation.ts";
import { aTablePrefix } from "../sql/prefixing.ts";
import { storeOver } from "../sql/store.ts";
import { StoreUnavailable, type Store } from "../store.ts";
import { BUSY_TIMEOUT_MS } from "./connection.ts";
import { memoryOpener, openFile, type Opener } from "./engine.ts";
import { storeError } from "./errors.ts";
import { causeOfStart } from "./file/opened.ts";
import { walBytes } from "./file/place.ts";
import { placeOf } from "./file/reaching.ts";

/** Where a SQLite store is kept. */
export interface SQLiteStoreOptions {
  /** A file, or `:memory:` for a store that ends with the process. */
  readonly path: string;
  /** Is told when writes begin to fail and when they succeed again. */
  readonly observe?: Observer;
  /** How long a write waits for another process that is writing (SQLite's `busy_timeout`), in milliseconds; 5000 where it is left out. */
  readonly busyTimeoutMs?: number;
  /** How long a read may take that no index answers, in milliseconds; 4000 where it is left out. In memory there is no such limit. */
  readonly longReadTimeoutMs?: number;
  /** What the names of its tables begin with, where the file has tables of others with the same names: `lk_`. Nothing where it is left out. */
  readonly tablePrefix?: string;
}

const LONGEST_MS = 3_600_000;

const checks: ChecksOf<SQLiteStoreOptions> = {
  path: text,
  observe: optional(aFunction),
  busyTimeoutMs: optional(wholeFrom(0, LONGEST_MS)),
  longReadTimeoutMs: optional(wholeFrom(1, LONGEST_MS)),
  tablePrefix: optional(aTablePrefix),
};

/**
 * A store in SQLite. Any number of processes may share the file.
 *
 * @example
 * ```ts
 * import { sqliteStore } from "latchkey/stores";
 *
 * export const store = sqliteStore({ path: "books.db" });
 * ```
 */
export function sqliteStore(options: SQLiteStoreOptions): Store {
  requireOptions(options, checks, { of: "sqliteStore" });
  const { path, observe = () => {}, busyTimeoutMs = BUSY_TIMEOUT_MS, longReadTimeoutMs = 4000, tablePrefix } = options;
  const fileOptions = { observe, busyMs: busyTimeoutMs, longReadMs: longReadTimeoutMs };
  let place: string | null = null;
  const openEngine: Opener =
    path === ":memory:" ? memoryOpener() : (collections) => openFile((place = placeOf(path)), collections, fileOptions);
  const store = storeOver(
    async (collections) => {
      try {
        return openEngine(collections);
      } catch (error) {
        throw storeError(place === null ? error : causeOfStart(error, place));
      }
    },
    () => new StoreUnavailable("SQLite: the store is not open"),
    tablePrefix,
  );
  return made(path === ":memory:" ? store : { ...store, walBytes: () => (place === null ? 0 : walBytes(place)) });
}
