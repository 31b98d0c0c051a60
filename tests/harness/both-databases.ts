import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, type TestContext } from "node:test";
import { Secret } from "../../src/core/crypto/secret.ts";
import type { Observer } from "../../src/core/observation.ts";
import {
  migratePostgres,
  migrateSQLite,
  planPostgres,
  planSQLite,
  postgresStore,
  sqliteStore,
  tryPostgres,
  trySQLite,
  type Collection,
  type MigratedTable,
  type MigrateOptions,
  type Plan,
  type Store,
} from "../../src/door/stores.ts";
import type { Database } from "../../src/service/settings/values.ts";
import { nextTurn } from "./next-turn.ts";
import { askPostgres, startPostgres, type TestServer } from "./postgres.ts";

/** A database of one engine, with operations on the whole database. */
export interface TestDatabase<Place extends Database = Database> {
  readonly engine: Place["kind"];
  /** The database in the form of the settings. */
  readonly place: Place;
  open(options?: { readonly observe?: Observer }): Store;
  plan(collections: readonly Collection[], dropped?: readonly string[]): Promise<Plan>;
  migrate: Migrate;
  /** Makes a dry run of the migration, on a copy. */
  tryOut: Migrate;
  /** Runs SQL from another program. */
  run(sql: string): Promise<unknown>;
  /** Returns the rows of one query. */
  ask(sql: string): Promise<readonly object[]>;
}

type File = Extract<Database, { kind: "sqlite" }>;
type Server = Extract<Database, { kind: "postgres" }>;

interface Migrate {
  (collections: readonly Collection[], options?: Partial<MigrateOptions>): Promise<readonly MigratedTable[]>;
}

/**
 * Starts a PostgreSQL for the tests of a file. The returned function gives each test an empty database of each engine.
 */
export function bothDatabases(): (t: TestContext) => Promise<readonly [TestDatabase<File>, TestDatabase<Server>]> {
  let server: TestServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.stop());
  return async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-both-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const address = await server.makeDatabase();
    t.after(() => server.dropDatabase(address));
    return [onSQLite(path.join(folder, "latchkey.db")), onPostgres(address)];
  };
}

const program = "0.1.0";

function onSQLite(file: string): TestDatabase<File> {
  return {
    engine: "sqlite",
    place: { kind: "sqlite", path: file },
    open: (options) => sqliteStore({ path: file, ...options }),
    plan: (collections, dropped) => planSQLite(file, collections, dropped),
    migrate: (collections, options) => migrateSQLite(file, collections, { program, ...options }),
    tryOut: (collections, options) => trySQLite(file, collections, { program, ...options }),
    async run(sql) {
      using others = new DatabaseSync(file, { timeout: 5000 });
      others.exec(sql);
      await nextTurn();
    },
    async ask(sql) {
      using others = new DatabaseSync(file, { timeout: 5000 });
      return others
        .prepare(sql)
        .all()
        .map((row) => ({ ...row }));
    },
  };
}

function onPostgres(address: string): TestDatabase<Server> {
  const url = new Secret(address);
  return {
    engine: "postgres",
    place: { kind: "postgres", url },
    open: (options) => postgresStore({ url, poolSize: 2, ...options }),
    plan: (collections, dropped) => planPostgres(url, collections, dropped),
    migrate: (collections, options) => migratePostgres(url, collections, { program, ...options }),
    tryOut: (collections, options) => tryPostgres(url, collections, { program, ...options }),
    run: (sql) => askPostgres(address, sql),
    ask: (sql) => askPostgres(address, sql),
  };
}
