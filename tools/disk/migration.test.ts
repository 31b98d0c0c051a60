import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { migrateSQLite, sqliteStore, StoreFull, trySQLite, type Collection } from "../../src/door/stores.ts";
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

function fill(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    `WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${rows})
     INSERT INTO things (id, _revision, title, price) SELECT n, n, 'a title of the row ' || n, n FROM series;
     INSERT INTO latchkey_keys VALUES ('things', ${rows + 1}); UPDATE latchkey_revision SET revision = ${rows}; PRAGMA wal_checkpoint(TRUNCATE)`,
  );
  database.close();
}

test("a migration on a disk that fills ends with the cure, others go on writing, and with room it goes on", async () => {
  using disk = mountSmallDisk(25);
  const file = `${disk.folder}/things.db`;
  const [old, now] = [things("integer"), things("text")];
  const store = sqliteStore({ path: file });
  await store.open([old]);
  fill(file);
  disk.fill(21 << 20);
  const before = readdirSync(disk.folder);
  const change = (key: number): ReturnType<typeof store.write> =>
    store.write({ changes: [{ kind: "update", collection: old, key, values: { price: -key } }] });

  await assert.rejects(trySQLite(file, [now], { program: "1.0.0" }), StoreFull);
  await assert.rejects(migrateSQLite(file, [now], { program: "1.0.0" }), StoreFull);

  assert.deepEqual(readdirSync(disk.folder), before);
  assert.equal((await change(5)).kind, "written");
  disk.makeRoom();
  assert.equal((await change(6)).kind, "written");
  await migrateSQLite(file, [now], { program: "1.0.0" });
  await store.close();
  const after = sqliteStore({ path: file });
  await after.open([now]);
  const prices = [4, 5, 6].map(async (key) => (await after.find(now, key))?.record["price"]);
  assert.deepEqual(await Promise.all(prices), ["4", "-5", "-6"]);
  assert.equal(await after.count(now, null), rows);
  await after.close();
});
