import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, statfsSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Secret } from "../../src/door/index.ts";
import { migratePostgres, postgresStore, StoreFull, tryPostgres, type Collection } from "../../src/door/stores.ts";
import { postgresServers, formatURL } from "../../tests/harness/postgres-server.ts";
import { askPostgres } from "../../tests/harness/postgres.ts";
import { mountSmallDisk } from "./small-disk.ts";

const rows = 40_000;
const things = (price: "integer" | "text"): Collection => ({
  name: "things",
  key: "integer",
  columns: [
    { name: "title", type: "text" },
    { name: "price", type: price },
  ],
  indexes: [["price", "id"]],
});

test("ends a migration on a full disk of PostgreSQL with the fix in its error while clients read, and succeeds when there is room", async () => {
  await using servers = await postgresServers();
  const server = await servers.primary();
  using disk = mountSmallDisk(60);
  const [setting] = await server.ask("SHOW data_directory");
  const { uid, gid } = statSync(String(setting!["data_directory"]));
  const space = path.join(disk.folder, "space");
  mkdirSync(space);
  chmodSync(disk.folder, 0o755);
  chownSync(space, uid, gid);
  await server.ask(`CREATE TABLESPACE small LOCATION '${space}'`);
  await server.ask("CREATE DATABASE small TABLESPACE small TEMPLATE template0 ENCODING 'UTF8'");
  const address = new URL(formatURL(server));
  address.pathname = "/small";
  const url = new Secret(address.href);
  const ask = (sql: string): ReturnType<typeof askPostgres> => askPostgres(address.href, sql);
  const [old, now] = [things("integer"), things("text")];
  const store = postgresStore({ url, poolSize: 4 });
  await store.open([old]);
  await ask(
    `INSERT INTO things (id, _revision, title, price) SELECT n, n, 'a title of the row ' || n, n FROM generate_series(1, ${rows}) AS n;
     SELECT setval('latchkey_revision', ${rows}); SELECT setval('"things(id) next"', ${rows})`,
  );
  await ask("CHECKPOINT");

  for (const room of [100 << 10, 1500 << 10, 4000 << 10]) {
    const { bavail, bsize } = statfsSync(disk.folder);
    disk.fill(bavail * bsize - room);
    if (room < 2 << 20) await assert.rejects(tryPostgres(url, [now], { program: "1.0.0" }), namesFix);
    await assert.rejects(migratePostgres(url, [now], { program: "1.0.0" }), namesFix);
    assert.deepEqual(await ask("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'latchkey%'"), []);
    assert.deepEqual(await ask("SELECT price::text FROM things WHERE id = 7"), [{ price: "7" }]);
    assert.deepEqual((await store.find(old, 7))?.record, { id: 7, title: "a title of the row 7", price: 7 });
    disk.makeRoom();
  }

  const changes = [{ kind: "update", collection: old, key: 5, values: { price: -5 } }] as const;
  assert.equal((await store.write({ changes })).kind, "written");
  await migratePostgres(url, [now], { program: "1.0.0" });
  await store.close();
  assert.deepEqual(
    await ask(
      `SELECT count(*)::integer AS rows, count(*) FILTER (WHERE price <> id::text)::integer AS changed FROM things`,
    ),
    [{ rows, changed: 1 }],
  );
  const after = postgresStore({ url, poolSize: 4 });
  await after.open([now]);
  assert.deepEqual((await after.find(now, 5))?.record, { id: 5, title: "a title of the row 5", price: "-5" });
  const where = { column: "price", operator: "eq", value: "-5" } as const;
  const found = await after.list({ collection: now, where, sort: [{ column: "id" }], limit: 2 });
  assert.deepEqual(
    found.map(({ record }) => record["id"]),
    [5],
  );
  await after.close();
});

function namesFix(error: unknown): boolean {
  return error instanceof StoreFull && /Free space on its disk and try again/.test(error.message);
}
