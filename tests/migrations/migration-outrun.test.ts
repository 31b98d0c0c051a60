import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Secret } from "../../src/core/crypto/secret.ts";
import { migratePostgres, postgresStore, type Collection } from "../../src/door/stores.ts";
import { postgresServers, formatURL } from "../harness/postgres-server.ts";
import { askPostgres, startPostgres } from "../harness/postgres.ts";

// A migration finishes although a writer is faster than the migration, and although the server vacuums the tables.

const rows = 1000;
const old: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "price", type: "integer" },
    { name: "count", type: "integer" },
  ],
};

/** The same table with prices that are slow to compute. */
const changed: Collection = {
  ...old,
  columns: [
    { name: "price", type: "decimal", scale: 2, origin: { convert: (euros) => slowly(`${Number(euros)}.50`) } },
    { name: "count", type: "integer" },
  ],
  indexes: [["price", "id"]],
};

function slowly<T>(value: T): T {
  for (const until = performance.now() + 0.1; performance.now() < until;);
  return value;
}

async function fill(url: string): Promise<void> {
  const store = postgresStore({ url: new Secret(url), poolSize: 2 });
  await store.open([old]);
  await store.close();
  await askPostgres(
    url,
    `INSERT INTO things (id, _revision, price, count) SELECT n, n, n, n FROM generate_series(1, ${rows}) AS n;
     SELECT setval('latchkey_revision', ${rows}); ANALYZE things`,
  );
}

/**
 * Changes rows in a loop that runs inside PostgreSQL, faster than the migration converts rows. `stop` ends the loop.
 */
function writeFast(t: TestContext, url: string): { stop(): Promise<void> } {
  const write =
    "DO $$ DECLARE at integer; BEGIN LOOP " +
    `at := floor(random() * ${rows}); UPDATE things SET price = price + 1, count = count + 1 WHERE id BETWEEN at AND at + 4; COMMIT; ` +
    "EXIT WHEN EXISTS (SELECT FROM enough); COMMIT; END LOOP; END $$";
  const writing = askPostgres(url, write);
  writing.catch(() => undefined);
  const stop = async (): Promise<void> => {
    await askPostgres(url, "INSERT INTO enough VALUES (TRUE)");
    await writing;
  };
  t.after(() => stop().catch(() => undefined));
  return { stop };
}

test("finishes a migration although a writer changes rows faster than the migration converts them, and loses no change", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const url = await server.makeDatabase();
  await fill(url);
  await askPostgres(url, "CREATE TABLE enough (is_it boolean)");
  const writing = writeFast(t, url);
  const start = performance.now();

  await migratePostgres(new Secret(url), [changed], { program: "0.1.0" });

  const took = performance.now() - start;
  await writing.stop();
  t.diagnostic(`it took ${(took / 1000).toFixed(1)} s`);
  // The limit is many times the normal duration, because the writer never pauses and shares the cores with other tests.
  assert.ok(took < 280_000, `it took ${took} ms`);
  const [lost] = await askPostgres(url, "SELECT count(*)::integer AS rows FROM things WHERE price <> count + 0.5");
  assert.deepEqual(lost, { rows: 0 });
  const [written] = await askPostgres(url, `SELECT max(count - id)::integer AS times FROM things`);
  assert.ok(Number(written!["times"]) > 10, "the writer has hardly changed any row");
});

test("finishes a migration without waiting for a running autovacuum", async (t) => {
  await using servers = await postgresServers();
  const server = await servers.primary(["-c", "autovacuum_naptime=1s"]);
  const url = formatURL(server);
  await fill(url);
  // With these settings, autovacuum would take an hour for the table.
  await askPostgres(
    url,
    `ALTER TABLE things SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);
     INSERT INTO things (id, _revision, price, count) SELECT n, n, n, n FROM generate_series(${rows + 1}, 50000) AS n; DELETE FROM things WHERE id > ${rows}`,
  );
  for (let tries = 0; !(await isVacuumed(url)); tries++) {
    assert.ok(tries < 200, "no autovacuum of the table has started");
    await sleep(100);
  }
  const start = performance.now();

  await migratePostgres(new Secret(url), [changed], { program: "0.1.0" });

  const took = performance.now() - start;
  t.diagnostic(`it took ${(took / 1000).toFixed(1)} s`);
  assert.ok(took < 30_000, `it took ${took} ms`);
});

async function isVacuumed(url: string): Promise<boolean> {
  return (await askPostgres(url, "SELECT FROM pg_stat_progress_vacuum WHERE relid = 'things'::regclass")).length > 0;
}
