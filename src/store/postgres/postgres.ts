import { aFunction, isObject, optional, wholeFrom } from "../../core/checking/members.ts";
import { requireOptions, type ChecksOf } from "../../core/checking/options.ts";
import { made } from "../../core/copy.ts";
import type { Secret } from "../../core/crypto/secret.ts";
import type { Observer } from "../../core/observation.ts";
import { aTablePrefix } from "../sql/prefixing.ts";
import { storeOver, type Engine } from "../sql/store.ts";
import { StoreUnavailable, type Collection, type ConnectionCounts, type Store } from "../store.ts";
import { aPostgresURL, postgresURLMistakes, readAddress } from "./network/address.ts";
import { LONGEST_MS, notThroughPgBouncer } from "./network/url-parameters.ts";

/** The options of a PostgreSQL store. */
export interface PostgresStoreOptions {
  /**
   * `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `sslmode` and similar parameters. Add `pgbouncer=true` if
   * PgBouncer pools by transaction.
   */
  readonly url: Secret;
  /** Receives an observation when the server stops answering and when it answers again. */
  readonly observe?: Observer;
  /** The maximum number of connections in the pool. The feeds share one more connection. Default: 10. */
  readonly poolSize?: number;
  /**
   * The longest wait of a request for a free or a new connection, in milliseconds. Default: `connect_timeout` of the
   * URL (in seconds), or 4500.
   */
  readonly connectTimeoutMs?: number;
  /**
   * The longest time for a statement, in milliseconds. Default: `statement_timeout` of the URL, or 4000. Migrations
   * have no limit.
   */
  readonly statementTimeoutMs?: number;
  /**
   * The longest wait of a statement for a lock, in milliseconds. Default: `lock_timeout` of the URL, or the limit of
   * the statement.
   */
  readonly lockTimeoutMs?: number;
  /**
   * A prefix for the names of the tables, for example `lk_`, if other tables in the schema have the same names.
   * Default: no prefix.
   */
  readonly tablePrefix?: string;
}

const checks: ChecksOf<PostgresStoreOptions> = {
  url: aPostgresURL,
  observe: optional(aFunction),
  poolSize: optional(wholeFrom(1)),
  connectTimeoutMs: optional(wholeFrom(100, LONGEST_MS)),
  statementTimeoutMs: optional(wholeFrom(100, LONGEST_MS)),
  lockTimeoutMs: optional(wholeFrom(1, LONGEST_MS)),
  tablePrefix: optional(aTablePrefix),
};

/**
 * Returns the mistakes in the parameters of the URL, and a mistake for a lock timeout that PgBouncer would not pass on.
 */
function mistakesBeyond(options: unknown): readonly string[] {
  if (!isObject(options) || checks.url(options["url"]) !== null) return [];
  const url = options["url"] as Secret;
  const mistakes = postgresURLMistakes(url).map((mistake) => `url: ${mistake}`);
  const isLost = mistakes.length === 0 && options["lockTimeoutMs"] !== undefined && readAddress(url).pooled;
  return isLost ? [`lockTimeoutMs: ${notThroughPgBouncer}`] : mistakes;
}

/** Stores records in PostgreSQL 14 or newer. Any number of processes may share the database. */
export function postgresStore(options: PostgresStoreOptions): Store {
  requireOptions(options, checks, { of: "postgresStore", more: mistakesBeyond(options) });
  const { url, observe = () => {}, poolSize = 10, tablePrefix } = options;
  const { timeouts } = readAddress(url);
  const {
    connectTimeoutMs: connectMs = timeouts.connectMs,
    statementTimeoutMs: statementMs = timeouts.statementMs,
    lockTimeoutMs: lockMs = timeouts.lockMs,
  } = options;
  const address = { ...readAddress(url), timeouts: { connectMs, statementMs, lockMs } };
  let counts: (() => ConnectionCounts) | null = null;
  let now: (() => Promise<number>) | null = null;
  async function open(collections: readonly Collection[]): Promise<Engine> {
    // A service with only SQLite never loads the PostgreSQL client.
    const { openEngine } = await import("./engine.ts");
    const engine = await openEngine({ address, poolSize, observe, collections });
    counts = engine.connections;
    now = engine.now;
    return engine;
  }
  const store = storeOver(open, notOpen, tablePrefix);
  return made({
    ...store,
    now: () => (now === null ? Promise.reject(notOpen()) : now()),
    connections: () => counts?.() ?? { busy: 0, idle: 0, waiting: 0, max: poolSize },
    close() {
      counts = now = null;
      return store.close();
    },
  });
}

function notOpen(): StoreUnavailable {
  return new StoreUnavailable("PostgreSQL: the store is not open");
}
