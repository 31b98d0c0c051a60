import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import {
  backupSQLite,
  copyStore,
  restoreSQLite,
  sqliteSource,
  sqliteStore,
  sqliteTarget,
  StoreFull,
  type Collection,
} from "../../src/door/stores.ts";
import { mountSmallDisk } from "./small-disk.ts";

const rows = 40_000;
const things: Collection = { name: "things", key: "integer", columns: [{ name: "title", type: "text" }] };

async function move(from: string, to: string): Promise<void> {
  const source = await sqliteSource(from);
  try {
    const target = await sqliteTarget(to);
    try {
      await copyStore(source, target, () => {});
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

for (const free of [0, 1]) {
  test(`names the full disk if a move, a backup or a restore fails with ${free} MiB left, leaves no files, and succeeds with room`, async () => {
    using large = mountSmallDisk(40);
    using small = mountSmallDisk(30);
    const from = `${large.folder}/from.db`;
    const store = sqliteStore({ path: from });
    await store.open([things]);
    await store.close();
    fill(from);
    small.fill((30 - free) << 20);
    const calls: readonly [string, (to: string) => Promise<unknown>][] = [
      ["moved.db", (to) => move(from, to)],
      ["backup.db", (to) => backupSQLite(from, to, false, () => {})],
      ["restored.db", async (to) => (await restoreSQLite(from, to, () => {})).close()],
    ];

    for (const [name, call] of calls) await assert.rejects(call(`${small.folder}/${name}`), namesFix, name);
    assert.deepEqual(readdirSync(small.folder), ["ballast"]);

    small.makeRoom();
    for (const [name, call] of calls) await call(`${small.folder}/${name}`);
    for (const name of ["moved.db", "backup.db"]) assert.equal(count(`${small.folder}/${name}`), rows);

    function namesFix(error: unknown): boolean {
      assert.ok(error instanceof StoreFull, String(error));
      assert.match(error.message, /Free space on it and try again/);
      assert.ok(error.message.includes(small.folder), error.message);
      return true;
    }
  });
}

function fill(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    `WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${rows})
     INSERT INTO things (id, _revision, title) SELECT n, n, 'a title of the row ' || n FROM series;
     UPDATE latchkey_keys SET next = ${rows + 1}; UPDATE latchkey_revision SET revision = ${rows}; PRAGMA wal_checkpoint(TRUNCATE)`,
  );
  database.close();
}

function count(file: string): unknown {
  const database = new DatabaseSync(file, { returnArrays: true });
  const [found] = database.prepare("SELECT count(*) FROM things").get() as unknown as unknown[];
  database.close();
  return found;
}
