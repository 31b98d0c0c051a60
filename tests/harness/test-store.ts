import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, type TestContext } from "node:test";
import { Secret } from "../../src/door/index.ts";
import { postgresStore, sqliteStore, type Store } from "../../src/door/stores.ts";
import { askPostgres, startPostgres, testsOnPostgres, type TestServer } from "./postgres.ts";

// The databases of tests that run on SQLite and on PostgreSQL: `npm test` runs them on SQLite, `npm run test:postgres` on PostgreSQL.

export { testsOnPostgres };

let server: Promise<TestServer> | null = null;
after(async () => (await server)?.stop());

async function makeDatabase(): Promise<{ readonly url: string; free(): Promise<void> }> {
  const made = await (server ??= startPostgres());
  const url = await made.makeDatabase();
  return { url, free: () => made.dropDatabase(url) };
}

/** Gives the URL of an empty database, as `LATCHKEY_DATABASE` takes it. */
export async function emptyDatabase(t: TestContext): Promise<string> {
  if (!testsOnPostgres) return "sqlite::memory:";
  const { url, free } = await makeDatabase();
  t.after(free);
  return url;
}

/** Gives a store over an empty database. Another test may have the database once the store is closed. */
export async function emptyStore(): Promise<Store> {
  if (!testsOnPostgres) return sqliteStore({ path: ":memory:" });
  const { url, free } = await makeDatabase();
  const store = openPostgres(url);
  let isFree = false;
  return {
    ...store,
    async close() {
      await store.close();
      if (!isFree) await free();
      isFree = true;
    },
  };
}

/** A database that several stores or services have, one after another or at once. */
export interface SharedDatabase {
  /** As `LATCHKEY_DATABASE` takes it. */
  readonly url: string;
  open(): Store;
  /** Runs one statement of SQL, as another program does, and gives the rows. */
  ask(sql: string): Promise<readonly Record<string, unknown>[]>;
}

/** Makes an empty database that several stores may open: a file of SQLite, or a database in PostgreSQL. */
export async function sharedDatabase(t: TestContext): Promise<SharedDatabase> {
  if (testsOnPostgres) {
    const url = await emptyDatabase(t);
    return { url, open: () => openPostgres(url), ask: (sql) => askPostgres(url, sql) };
  }
  return sharedFile(t);
}

/** The same on SQLite in every run. */
export function sharedFile(t: TestContext): SharedDatabase {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-shared-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "shared.db");
  return {
    url: `sqlite:${file}`,
    open: () => sqliteStore({ path: file }),
    async ask(sql) {
      using others = new DatabaseSync(file, { timeout: 5000 });
      return others.prepare(sql).all();
    },
  };
}

function openPostgres(url: string): Store {
  return postgresStore({ url: new Secret(url), poolSize: 4 });
}
