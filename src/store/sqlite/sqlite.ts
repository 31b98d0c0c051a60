import { aFunction, optional, text, wholeFrom } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import type { Observer } from "../../core/observation.ts";
import { aTablePrefix } from "../sql/prefixing.ts";
import { storeOver } from "../sql/store.ts";
import { StoreUnavailable, type Store } from "../store.ts";
import { BUSY_TIMEOUT_MS } from "./connection/connection.ts";
import { storeError } from "./connection/errors.ts";
import { memoryOpener, openFile, type Opener } from "./engine.ts";
import { causeOfStart } from "./file/log.ts";
import { walBytes } from "./file/place.ts";
import { requirePlace } from "./file/reaching.ts";

/** The options of a SQLite store. */
export interface SQLiteStoreOptions {
  /** A file, or `:memory:` for a store that ends with the process. */
  readonly path: string;
  /** Receives an observation when writes start to fail and when they succeed again. */
  readonly observe?: Observer;
  /**
   * The longest wait of a write for a write of another process (SQLite's `busy_timeout`), in milliseconds. Default:
   * 5000.
   */
  readonly busyTimeoutMs?: number;
  /**
   * The time limit for a read that no index answers, in milliseconds. Default: 4000. A store in memory has no such
   * limit.
   */
  readonly longReadTimeoutMs?: number;
  /**
   * A prefix for the names of the tables, for example `lk_`, if other tables in the file have the same names. Default:
   * no prefix.
   */
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
 * Stores records in SQLite. Any number of processes may share the file.
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
    path === ":memory:"
      ? memoryOpener()
      : (collections) => openFile((place = requirePlace(path)), collections, fileOptions);
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
