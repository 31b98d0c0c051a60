import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Secret } from "../../src/core/crypto/secret.ts";
import { planPostgres, planSQLite, postgresStore, sqliteStore, type Collection } from "../../src/door/stores.ts";
import { askPostgres, startPostgres } from "../harness/postgres.ts";

// The time estimates of `db plan`: rewritten rows take time, but PostgreSQL drops a column without rewriting rows.

const rows = 100_000;
const old: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "title", type: "text" },
    { name: "note", type: "text", nullable: true },
  ],
};
const [title, note] = old.columns as [Collection["columns"][0], Collection["columns"][0]];
const dropped = { ...old, columns: [title] };
const folded: Collection = { ...old, columns: [{ ...title, folded: true }, note] };
const indexed = { ...old, indexes: [["title", "id"]] };
const renamed: Collection = { ...old, columns: [{ ...title, name: "name", origin: { renamedFrom: "title" } }, note] };

test("estimates the seconds of a migration by the rows that it writes, on PostgreSQL", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const url = await server.makeDatabase();
  const store = postgresStore({ url: new Secret(url), poolSize: 2 });
  await store.open([old]);
  await store.close();
  await askPostgres(
    url,
    `INSERT INTO things (id, _revision, title) SELECT n, n, 'title ' || n FROM generate_series(1, ${rows}) AS n`,
  );
  const seconds = async (now: Collection, gone: readonly string[] = []): Promise<number> =>
    (await planPostgres(new Secret(url), [now], gone)).tables[0]!.seconds;

  assert.equal(await seconds(dropped, ["things.note"]), 1);
  assert.equal(await seconds(indexed), 1);
  assert.equal(await seconds(renamed), 2);
  assert.equal(await seconds(folded), 4);
});

test("estimates the seconds of a migration by the rows that it writes, on SQLite, which rebuilds a table for an index", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-estimates-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "things.db");
  const store = sqliteStore({ path: file });
  await store.open([old]);
  await store.close();
  const database = new DatabaseSync(file);
  database.exec(
    `INSERT INTO things (id, _revision, title) WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${rows}) SELECT n, n, 'title ' || n FROM s`,
  );
  database.close();
  const seconds = async (now: Collection, gone: readonly string[] = []): Promise<number> =>
    (await planSQLite(file, [now], gone)).tables[0]!.seconds;

  assert.equal(await seconds({ ...old, columns: [title, note, { ...note, name: "more" }] }), 1);
  assert.equal(await seconds(dropped, ["things.note"]), 2);
  assert.equal(await seconds(indexed), 4);
});
