import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, type TestContext } from "node:test";
import { Secret } from "../../src/door/index.ts";
import { postgresStore, sqliteStore, type Store } from "../../src/door/stores.ts";
import { lateDatabases, type LateDatabase, type LateDatabases } from "./copied-tables.ts";
import { nextTurn } from "./next-turn.ts";
import { askPostgres, startPostgres, testsOnPostgres, type TestServer } from "./postgres.ts";

// The databases of tests that run on SQLite (`npm test`) and on PostgreSQL (`npm run test:postgres`).

export { testsOnPostgres };

let server: Promise<TestServer> | null = null;
let late: LateDatabases | null = null;
after(async () => {
  await late?.stop();
  await (await server)?.stop();
});

async function makeDatabase(): Promise<{ readonly url: string; free(): Promise<void> }> {
  const made = await (server ??= startPostgres());
  const url = await made.makeDatabase();
  return { url, free: () => made.dropDatabase(url) };
}

/** Returns the URL of an empty database for `LATCHKEY_DATABASE`. */
export async function emptyDatabase(t: TestContext): Promise<string> {
  if (!testsOnPostgres) return "sqlite::memory:";
  const { url, free } = await makeDatabase();
  t.after(free);
  return url;
}

/** Returns a PostgreSQL database for one store. It has no records before the store writes some. */
export async function lateDatabase(): Promise<LateDatabase> {
  const { url } = await (server ??= startPostgres());
  return (late ??= lateDatabases(url)).make();
}

/** Returns a store over an empty database, which the closed store leaves. */
export async function emptyStore(): Promise<Store> {
  if (!testsOnPostgres) return sqliteStore({ path: ":memory:" });
  const { url, over, free } = await lateDatabase();
  const store = over(openPostgres(url));
  let isFree = false;
  return {
    ...store,
    async close() {
      await store.close();
      if (!isFree) free();
      isFree = true;
    },
  };
}

/** A database for several stores or services, one after another or at the same time. */
export interface SharedDatabase {
  /** The URL for `LATCHKEY_DATABASE`. */
  readonly url: string;
  open(): Store;
  /** Runs one SQL statement like another program, and returns the rows. */
  ask(sql: string): Promise<readonly Record<string, unknown>[]>;
}

/** Makes an empty database that several stores can open: a SQLite file, or a PostgreSQL database. */
export async function sharedDatabase(t: TestContext): Promise<SharedDatabase> {
  if (testsOnPostgres) {
    const url = await emptyDatabase(t);
    return { url, open: () => openPostgres(url), ask: (sql) => askPostgres(url, sql) };
  }
  return sharedFile(t);
}

/** Makes a SQLite file that several stores can open, also in runs on PostgreSQL. */
export function sharedFile(t: TestContext): SharedDatabase {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-shared-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "shared.db");
  return {
    url: `sqlite:${file}`,
    open: () => sqliteStore({ path: file }),
    async ask(sql) {
      using others = new DatabaseSync(file, { timeout: 5000 });
      const rows = others.prepare(sql).all();
      await nextTurn();
      return rows;
    },
  };
}

function openPostgres(url: string): Store {
  return postgresStore({ url: new Secret(url), poolSize: 4 });
}
