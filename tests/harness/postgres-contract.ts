import { after, before } from "node:test";
import { Secret } from "../../src/door/index.ts";
import { postgresStore, type Store } from "../../src/door/stores.ts";
import { certifyStore } from "../../src/testing/store-contract.ts";
import { askPostgres, startPostgres, type TestServer } from "./postgres.ts";

/**
 * Runs the store contract on a separate server with these connection options. Each store has a separate schema, which
 * is faster to make than a database. Returns the database, for further tests of the same file.
 */
export function certifyPostgres(name: string, options = ""): () => string {
  let server: TestServer;
  let database: string;
  let made = 0;

  before(async () => {
    server = await startPostgres();
    database = await server.makeDatabase();
  });

  after(async () => {
    await server.dropDatabase(database);
    await server.stop();
  });

  certifyStore(name, async () => {
    const schema = `store_${++made}`;
    await askPostgres(database, `CREATE SCHEMA ${schema}`);
    const url = new URL(database);
    url.searchParams.set("options", `-c search_path=${schema} ${options}`);
    const stores: Store[] = [];
    const reopen = async (): Promise<Store> => {
      const store = postgresStore({ url: new Secret(url.href) });
      stores.push(store);
      return store;
    };
    return {
      store: await reopen(),
      reopen,
      dispose: async () => void (await Promise.all(stores.map((store) => store.close()))),
    };
  });
  return () => database;
}
