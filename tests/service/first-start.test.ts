import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { Secret } from "../../src/core/crypto/secret.ts";
import { createLatchkey, type Latchkey } from "../../src/service/latchkey.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { keyOf, type Change, type Collection } from "../../src/store/store.ts";
import { library, people, pets } from "../../src/testing/store-contract/library.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";
import { basicHeader } from "../harness/serve.ts";

let server: TestServer;
before(async () => void (server = await startPostgres()));
after(() => server.stop());

const secret = { LATCHKEY_SECRET: "a secret that all of the processes know" };
const tries = 20;

test("lets four services start at the same time on an empty PostgreSQL database, and creates one administrator", async (t) => {
  for (let at = 0; at < 3; at++) {
    const url = await server.makeDatabase();

    await startTogether(t, url);

    await server.dropDatabase(url);
  }
});

test("opens four stores at the same time on an empty PostgreSQL database", async () => {
  for (let at = 0; at < tries; at++) {
    const url = await server.makeDatabase();

    await openTogether(
      url,
      [1, 2, 3, 4].map(() => library),
    );

    await server.dropDatabase(url);
  }
});

test("opens concurrent stores of a later version with a new field, while a store of the previous version continues to write", async () => {
  const later = library.map((each): Collection =>
    each.name === people.name
      ? { ...each, columns: [...each.columns, { name: "added", type: "text", nullable: true }], indexes: [["added"]] }
      : { ...each, columns: [...each.columns, { name: "added", type: "integer", default: 1 }] },
  );
  const url = await server.makeDatabase();
  const serving = postgresStore({ url: new Secret(url) });
  await serving.open(library);
  const changes: Change[] = [
    // Locks the tables in another order than a migration, which locks them in the order of the declarations.
    { kind: "updateAll", collection: pets, where: { column: "name", operator: "eq", value: "Tom" }, values: {} },
    { kind: "insert", collection: people, values: { name: "Ada" } },
    { kind: "insert", collection: pets, values: { name: "Rex", person_id: keyOf(1) } },
  ];
  let isOver = false;
  const wrote: unknown[] = [];
  const writing = [1, 2, 3, 4].map(async () => {
    while (!isOver) wrote.push((await serving.write({ changes })).kind);
  });

  // With this short timeout, PostgreSQL ends the migration and not a write if both deadlock. The migration then tries
  // again.
  await openTogether(
    `${url}?options=-c%20deadlock_timeout%3D10ms`,
    [1, 2, 3, 4].map(() => later),
  );
  isOver = true;
  await Promise.all(writing);

  assert.deepEqual([...new Set(wrote)], ["written"]);
  await serving.close();
});

test("drops no empty table that gets a row before the drop, and no view that uses the table", async () => {
  const url = await server.makeDatabase();
  await openTogether(url, [library]);
  const older = new pg.Client({ connectionString: url });
  await older.connect();
  await older.query("BEGIN; INSERT INTO people (id, _revision, name) VALUES (7, 1, 'Ada')");
  const other = { ...people, indexes: [], columns: [{ name: "name", type: "integer" }] } as const;
  const store = postgresStore({ url: new Secret(url) });

  const opened = store.open([other]);
  while ((await askPostgres(url, "SELECT FROM pg_locks WHERE NOT granted")).length === 0) await wait(10);
  await older.query("COMMIT");

  await assert.rejects(opened, /people.name does not match its declaration. To convert it from text to integer/);
  assert.deepEqual((await older.query("SELECT name FROM people")).rows, [{ name: "Ada" }]);
  await older.query("DELETE FROM people; CREATE VIEW names AS SELECT name FROM people");
  await assert.rejects(store.open([other]), /objects depend on it. Drop the dependent object/);
  await older.query("DROP VIEW names");
  await older.end();
  await openTogether(url, [[other]]);
});

test("lets four services start at the same time on an empty SQLite file, and creates one administrator", async (t) => {
  for (let at = 0; at < 3; at++) await startTogether(t, `sqlite:${createFolder(t)}/latchkey.db`);
});

async function openTogether(url: string, versions: readonly (readonly Collection[])[]): Promise<void> {
  const stores = versions.map(() => postgresStore({ url: new Secret(url) }));
  const opened = await Promise.allSettled(stores.map((store, at) => store.open(versions[at]!)));
  for (const store of stores) await store.close();
  assert.deepEqual(
    opened.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : [])),
    [],
  );
}

/** Starts four services. Asserts that all are ready, and that exactly one of them has created the administrator. */
async function startTogether(t: TestContext, database: string): Promise<void> {
  const passwordFile = path.join(createFolder(t), "latchkey.password");
  const settings = readSettings({ ...secret, LATCHKEY_DATABASE: database });
  const starts = await Promise.allSettled([1, 2, 3, 4].map(() => createLatchkey({ settings, passwordFile })));
  const services = starts.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  try {
    const failures = starts.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
    assert.deepEqual(failures, []);
    assert.equal(services.filter(({ firstAdministrator }) => firstAdministrator !== null).length, 1);
    const admin = basicHeader("admin", readFileSync(passwordFile, "utf8").trim());
    for (const service of services) {
      assert.equal((await get(service, "/readyz")).status, 200);
      const users = await get(service, "/users", admin);
      assert.deepEqual([users.status, ((await users.json()) as unknown[]).length], [200, 1]);
    }
  } finally {
    for (const service of services) await service.close();
  }
}

function get(service: Latchkey, target: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return service.fetch(new Request(`http://127.0.0.1${target}`, { headers }), { peer: "127.0.0.1" });
}

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-together-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
