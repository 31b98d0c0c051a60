import assert from "node:assert/strict";
import { statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { Secret } from "../../src/door/index.ts";
import { measurePostgres, type Stats, type TableStats } from "../../src/door/stores.ts";
import { statsOfFile } from "../../src/store/sqlite/whole/stats.ts";
import { placeFor, type Machine } from "../harness/cli.ts";
import { makeRoles } from "../harness/postgres-roles.ts";
import { askPostgres, startPostgres } from "../harness/postgres.ts";
import { serve } from "../harness/serve.ts";

const getTable = ({ tables }: Stats, name: string): TableStats => tables.find(({ table }) => table === name)!;

/** Creates a place with a database of three users. */
async function filled(t: TestContext): Promise<{ readonly place: Machine; readonly file: string }> {
  const place = placeFor();
  t.after(() => place[Symbol.dispose]());
  const file = path.join(place.folder, "latchkey.db");
  const api = await serve(t, { settings: { LATCHKEY_DATABASE: `sqlite:${file}` } });
  for (const name of ["ann", "bob"]) await api.user(name);
  return { place, file };
}

test("shows rows, bytes and the oldest record of each table of a SQLite file in use with `db stats`", async (t) => {
  const { place, file } = await filled(t);

  const stats = (await place.json(["db", "stats"])) as Stats;
  const text = await place.run(["db", "stats"]);

  assert.ok(stats.bytes >= statSync(file).size && stats.walBytes! > 0);
  assert.equal(getTable(stats, "users").rows, 3);
  assert.ok(stats.tables.every(({ bytes, estimated }) => bytes >= 4096 && !estimated));
  assert.equal(getTable(stats, "accounts").oldest!.column, "created_at");
  assert.match(text.out, /^TABLE +ROWS +BYTES +OLDEST\n(?:.*\n)*accounts +3 +[\d,]+ +20\S+Z \(created_at\)/);
  assert.match(text.out, /The database has [\d,]+ bytes, [\d,]+ of them free for new rows, [\d,]+ in its/);
});

test("estimates the size of large tables from a part of them", async (t) => {
  const { file } = await filled(t);
  const database = new DatabaseSync(file, { timeout: 10_000 });
  database.exec(`PRAGMA foreign_keys = OFF;
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000)
    INSERT INTO refresh_uses (id, _revision, user_id, family, used_at, expires_at)
      SELECT hex(randomblob(20)), 1, 1, hex(randomblob(8)), '2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z' FROM n`);
  database.close();

  const whole = await statsOfFile(file, 60_000);
  const judged = await statsOfFile(file, 0);

  const [uses, part] = [getTable(whole, "refresh_uses"), getTable(judged, "refresh_uses")];
  assert.deepEqual([uses.rows, uses.estimated, part.estimated], [50_000, false, true]);
  assert.deepEqual(uses.oldest, { column: "expires_at", at: "2026-02-01T00:00:00.000Z" });
  assert.ok(Math.abs(part.rows / uses.rows - 1) < 0.3, `${part.rows} of ${uses.rows}`);
  assert.ok(Math.abs(part.bytes / uses.bytes - 1) < 0.3, `${part.bytes} of ${uses.bytes}`);
  assert.ok(whole.tables.reduce((sum, { bytes }) => sum + bytes, 0) <= whole.bytes);
});

test("shows rows, bytes and the oldest record of each table of a PostgreSQL database with `db stats`", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const url = await server.makeDatabase();
  const secret = new Secret(url);
  await assert.rejects(measurePostgres(secret), /has no tables of Latchkey/);
  const settings = { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret for as long as this test runs" };
  const api = await serve(t, { settings });
  await api.user("ann");
  await askPostgres(
    url,
    `INSERT INTO dead_families (id, _revision, expires_at) SELECT n || repeat('-', 200), n, '2999-03-01T00:00:00.000Z' FROM generate_series(1, 120000) n`,
  );

  const stats = await measurePostgres(secret);

  const dead = getTable(stats, "dead_families");
  assert.deepEqual([getTable(stats, "users").rows, dead.estimated], [2, true]);
  assert.ok(Math.abs(dead.rows / 120_000 - 1) < 0.1, `${dead.rows}`);
  assert.ok(dead.bytes > 1_000_000 && stats.bytes > dead.bytes);
  assert.deepEqual(dead.oldest, { column: "expires_at", at: "2999-03-01T00:00:00.000Z" });
  assert.deepEqual([stats.walBytes, getTable(stats, "accounts").oldest!.column], [null, "created_at"]);
});

test("estimates a PostgreSQL table whose count takes too long, and leaves its oldest record out", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const url = await server.makeDatabase();
  const { owner, service } = await makeRoles(url);
  const api = await serve(t, {
    settings: { LATCHKEY_DATABASE: owner, LATCHKEY_SECRET: "known to this test alone, for as long" },
  });
  for (const name of ["ann", "bob", "cid", "dee"]) await api.user(name);
  // The policy makes each row of one table slow for the role of the service.
  await askPostgres(
    url,
    `ALTER TABLE accounts ENABLE ROW LEVEL SECURITY; CREATE POLICY slow ON accounts USING (pg_sleep(0.3) IS NOT NULL); ANALYZE accounts`,
  );

  const stats = await measurePostgres(new Secret(service));

  const { estimated, oldest } = getTable(stats, "accounts");
  assert.deepEqual([estimated, oldest], [true, null]);
  assert.deepEqual([getTable(stats, "users").rows, getTable(stats, "users").estimated], [5, false]);
});
