import { aFunction, optional, wholeFrom } from "../../checking/members.ts";
import { requireOptions, type ChecksOf } from "../../checking/options.ts";
import { aSecret, type Secret } from "../../crypto/secret.ts";
import type { Observer } from "../../observation.ts";
import { storeOver } from "../sql/store.ts";
import { StoreUnavailable, type ConnectionCounts, type Store } from "../store.ts";
import { isPostgresURL, readAddress } from "./address.ts";

/** Where a PostgreSQL store is kept. */
export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `sslmode` and the like; `pgbouncer=true` where PgBouncer pools by transaction. */
  readonly url: Secret;
  /** Is told when the server stops answering and when it answers again. */
  readonly observe?: Observer;
  /** How many connections there may be, besides one that listens. 10 where it is left out. */
  readonly poolSize?: number;
}

const checks: ChecksOf<PostgresStoreOptions> = {
  url: (value) =>
    aSecret(value) ??
    (isPostgresURL((value as Secret).reveal().toString())
      ? null
      : "it has to hold postgres://USER:PASSWORD@HOST:PORT/DATABASE"),
  observe: optional(aFunction),
  poolSize: optional(wholeFrom(1)),
};

/** A store in PostgreSQL 14 or newer. Any number of processes may share the database. */
export function postgresStore(options: PostgresStoreOptions): Store {
  requireOptions(options, checks, { of: "postgresStore" });
  const { url, observe = () => {}, poolSize = 10 } = options;
  const address = readAddress(url);
  let counts: (() => ConnectionCounts) | null = null;
  let now: (() => Promise<number>) | null = null;
  const store = storeOver(async (collections) => {
    // Whoever keeps everything in SQLite never loads the client.
    const { openEngine } = await import("./engine.ts");
    const engine = await openEngine({ address, poolSize, observe, collections });
    counts = engine.connections;
    now = engine.now;
    return engine;
  }, notOpen);
  return {
    ...store,
    now: () => (now === null ? Promise.reject(notOpen()) : now()),
    connections: () => counts?.() ?? { busy: 0, idle: 0, waiting: 0, max: poolSize },
    close() {
      counts = now = null;
      return store.close();
    },
  };
}

function notOpen(): StoreUnavailable {
  return new StoreUnavailable("PostgreSQL: the store is not open");
}
