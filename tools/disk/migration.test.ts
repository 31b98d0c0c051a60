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

test("ends a migration on a full disk with the fix in its error while clients write, and resumes it when there is room", async () => {
  using disk = mountSmallDisk(40);
  const file = `${disk.folder}/things.db`;
  const [old, now] = [things("integer"), things("text")];
  const store = sqliteStore({ path: file });
  await store.open([old]);
  fill(file);
  const change = (key: number): ReturnType<typeof store.write> =>
    store.write({ changes: [{ kind: "update", collection: old, key, values: { price: -key } }] });

  disk.fill(23 << 20);
  const before = readdirSync(disk.folder);
  await assert.rejects(trySQLite(file, [now], { program: "1.0.0" }), StoreFull);
  await assert.rejects(migrateSQLite(file, [now], { program: "1.0.0" }), namesFix);
  assert.deepEqual(readdirSync(disk.folder), before);
  assert.equal(begun(file), 0);

  disk.makeRoom();
  disk.fill(19 << 20);
  const rest = rows - 10_000;
  let copied = 0;
  const stopped = migrateSQLite(file, [now], {
    program: "1.0.0",
    report(_table, done) {
      copied = done;
      if (done > 5000) disk.fill(23 << 20);
    },
  });
  await assert.rejects(stopped, namesFix);
  assert.ok(copied > 5000 && copied < rest, `${copied} rows were copied`);
  assert.deepEqual(readdirSync(disk.folder), before);
  for (let key = 1; key <= 300; key++) assert.equal((await change(key)).kind, "written");

  disk.makeRoom();
  assert.equal((await change(301)).kind, "written");
  await migrateSQLite(file, [now], { program: "1.0.0" });
  await store.close();
  const after = sqliteStore({ path: file });
  await after.open([now]);
  const prices = [300, 301, 302].map(async (key) => (await after.find(now, key))?.record["price"]);
  assert.deepEqual(await Promise.all(prices), ["-300", "-301", "302"]);
  assert.equal(await after.count(now, null), rows);
  await after.close();
});

function namesFix(error: unknown): boolean {
  return error instanceof StoreFull && error.message.includes("Free space, and migrate again");
}

/** Returns the number of tables whose copy is unfinished. */
function begun(file: string): unknown {
  const database = new DatabaseSync(file, { returnArrays: true });
  const [count] = database.prepare("SELECT count(*) FROM latchkey_unfinished").get() as unknown as unknown[];
  database.close();
  return count;
}
