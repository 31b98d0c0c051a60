import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test, type TestContext } from "node:test";
import pg from "pg";
import { Secret } from "../../src/door/index.ts";
import type { Mount } from "../../src/door/resources.ts";
import { postgresStore, sqliteStore, type Store } from "../../src/door/stores.ts";
import { nextTurn } from "./next-turn.ts";
import { ownService, type Own } from "./own-service.ts";
import { startPostgres, type TestServer } from "./postgres.ts";

/** A database with existing tables. Another program also writes to them with SQL while the service runs. */
export interface Before {
  readonly engine: "sqlite" | "postgres";
  /** The URL in the form of `LATCHKEY_DATABASE`. */
  readonly url: string;
  /** Runs SQL from another program. */
  sql(text: string): Promise<readonly Record<string, unknown>[]>;
  /** Creates a service over the database. */
  serve(...mounts: readonly Mount[]): Promise<Own>;
  makeStore(): Store;
}

/** The SQL that creates the tables: the same for both databases, or one for each. */
export type Definition = string | { readonly sqlite: string; readonly postgres: string };

let server: Promise<TestServer> | null = null;
after(async () => (await server)?.stop());

/** Runs a test on both databases. */
export function onBoth(title: string, made: Definition, body: (before: Before, t: TestContext) => Promise<void>): void {
  test(`${title} (SQLite)`, async (t) => body(await inSQLite(t, textFor(made, "sqlite")), t));
  test(`${title} (PostgreSQL)`, async (t) => body(await inPostgres(t, textFor(made, "postgres")), t));
}

/** Runs a test for SQLite only. */
export function onSQLite(title: string, made: string, body: (before: Before, t: TestContext) => Promise<void>): void {
  test(`${title} (SQLite)`, async (t) => body(await inSQLite(t, made), t));
}

/** Runs a test for PostgreSQL only. */
export function onPostgres(title: string, made: string, body: (before: Before, t: TestContext) => Promise<void>): void {
  test(`${title} (PostgreSQL)`, async (t) => body(await inPostgres(t, made), t));
}

function textFor(made: Definition, engine: Before["engine"]): string {
  return typeof made === "string" ? made : made[engine];
}

async function inSQLite(t: TestContext, made: string): Promise<Before> {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-existing-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "theirs.db");
  const others = new DatabaseSync(path, { timeout: 5000 });
  t.after(() => others.close());
  others.exec(made);
  const makeStore = (): Store => sqliteStore({ path });
  return {
    engine: "sqlite",
    url: `sqlite:${path}`,
    async sql(text) {
      const rows = others.prepare(text).all();
      await nextTurn();
      return rows;
    },
    serve: (...mounts) => ownService(t, { store: makeStore(), mounts }),
    makeStore,
  };
}

async function inPostgres(t: TestContext, made: string): Promise<Before> {
  const { makeDatabase } = await (server ??= startPostgres());
  const url = await makeDatabase();
  const others = new pg.Client(url);
  await others.connect();
  t.after(() => others.end());
  await others.query(made);
  const makeStore = (): Store => postgresStore({ url: new Secret(url), poolSize: 4 });
  return {
    engine: "postgres",
    url,
    sql: async (text) => (await others.query<Record<string, unknown>>(text)).rows,
    serve: (...mounts) => ownService(t, { store: makeStore(), mounts }),
    makeStore,
  };
}
