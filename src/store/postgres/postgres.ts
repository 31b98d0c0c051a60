import type { Secret } from "../../crypto/secret.ts";
import type { Observer } from "../../observation.ts";
import { StoreUnavailable, type Store } from "../store.ts";
import { readAddress } from "./address.ts";
import type { Engine } from "./engine.ts";

/** Where a PostgreSQL store is kept. */
export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `sslmode` and the like; `pgbouncer=true` where PgBouncer pools by transaction. */
  readonly url: Secret;
  /** Is told when the server stops answering and when it answers again. */
  readonly observe?: Observer;
  /** How many connections there may be, besides one that listens. 10 where it is left out. */
  readonly poolSize?: number;
}

/** A store in PostgreSQL 14 or newer. Any number of processes may share the database. */
export function postgresStore({ url, observe = () => {}, poolSize = 10 }: PostgresStoreOptions): Store {
  const address = readAddress(url);
  let engine: Engine | null = null;

  function opened(): Engine {
    if (engine === null) throw new StoreUnavailable("PostgreSQL: the store is not open");
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
      // Whoever keeps everything in SQLite never loads the client.
      const { openEngine } = await import("./engine.ts");
      engine = await openEngine({ address, poolSize, observe, collections });
    },
    find: (collection, key) => opened().find(collection, key),
    findBy: (collection, column, value) => opened().findBy(collection, column, value),
    list: (query) => opened().list(query),
    listJSON: (query) => opened().listJSON(query),
    count: (collection, where) => opened().count(collection, where),
    recall: (idempotency) => opened().recall(idempotency),
    write: async (transaction) => opened().write(transaction),
    follow: (collection, onRow) => opened().follow(collection, onRow),
    check: async () => opened().check(),
    connections: () => engine?.counts() ?? { busy: 0, idle: 0, waiting: 0, max: poolSize },
    close,
  };
}
