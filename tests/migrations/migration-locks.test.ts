import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Secret } from "../../src/core/crypto/secret.ts";
import { postgresStore, type Store } from "../../src/door/stores.ts";
import { watchLocks } from "../harness/lock-watcher.ts";
import { added, old, owners } from "../harness/locked-things.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";

/** The number of rows and of writers. `npm run verify -- locks` uses more. */
const rows = Number(process.env["LOCKS_ROWS"] ?? 4000);
const writers = Number(process.env["LOCKS_WRITERS"] ?? 4);
/**
 * The maximum time for which a task may hold a lock on a table, or wait for one, in milliseconds. Writes may wait as
 * long.
 */
const limit = Number(process.env["LOCKS_LIMIT_MS"] ?? 500);

let server: TestServer;
before(async () => void (server = await startPostgres()));
after(() => server.stop());

async function fill(url: string): Promise<Store> {
  const store = postgresStore({ url: new Secret(url), poolSize: 8 });
  await store.open([owners, old]);
  await askPostgres(
    url,
    `INSERT INTO owners (id, _revision, name) SELECT n, n, 'owner ' || n FROM generate_series(1, 1000) AS n;
     INSERT INTO things (id, _revision, title, email, price, count, note, owner)
       SELECT n, n, 'Title ' || n, 'Row' || n || '@Example.com', n, n, 'a note of the row ' || n, n % 1000 + 1 FROM generate_series(1, ${rows}) AS n;
     SELECT setval('latchkey_revision', ${rows}); SELECT setval('"things(id) next"', ${rows}); ANALYZE things`,
  );
  return store;
}

/** The next number to write. Writers share it, so that no number is written twice. */
let next = 2 * rows;

/** Starts many writers, and records the duration of each write. A writer ends with its first refused write. */
function startWriting(store: Store): { readonly times: number[]; stop(): Promise<readonly unknown[]> } {
  const times: number[] = [];
  let isOver = false;
  const write = async (writer: number): Promise<void> => {
    while (!isOver) {
      const count = next++;
      const key = Math.floor((Math.random() * rows) / writers) * writers + writer + 1;
      const values = {
        title: `New ${count}`,
        email: `new${count}@Example.com`,
        price: count,
        count,
        note: "n",
        owner: 7,
      };
      const start = performance.now();
      await store.write({
        changes: [
          Math.random() < 0.1 || key > rows
            ? { kind: "insert", collection: old, values }
            : { kind: "update", collection: old, key, values: { price: count } },
        ],
      });
      times.push(performance.now() - start);
    }
  };
  const refused: unknown[] = [];
  const all = Promise.all(
    Array.from({ length: writers }, (_, writer) => write(writer).catch((error: unknown) => void refused.push(error))),
  );
  return {
    times,
    async stop() {
      isOver = true;
      await all;
      return refused;
    },
  };
}

async function watched(t: TestContext, what: string, task: (url: string) => Promise<unknown>): Promise<void> {
  const url = await server.makeDatabase();
  const store = await fill(url);
  const quiet = startWriting(store);
  await sleep(Math.min(rows / 10, 5000));
  await quiet.stop();
  const during = startWriting(store);
  const watching = await watchLocks(url, ["things", "owners"]);
  // Takes a known lock ten times. Only a test that sees this lock proves anything, because the locks of the task may be
  // too short to be seen.
  for (let times = 0; times < 10; times++)
    await askPostgres(url, "BEGIN; LOCK TABLE owners IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(0.05); COMMIT");
  const start = performance.now();

  await task(url);

  const took = performance.now() - start;
  const { longest, blindMs } = await watching.stop();
  const refused = await during.stop();
  await store.close();
  t.diagnostic(
    `${what} of ${rows} rows with ${writers} writers took ${(took / 1000).toFixed(1)} s; ` +
      `before it: ${quiet.times.length} writes, the longest ${pickLongest(quiet.times).toFixed(0)} ms; during it: ${during.times.length} writes, the longest ${pickLongest(during.times).toFixed(0)} ms; ` +
      `refused writes: ${refused.length}; locks, checked at least every ${blindMs.toFixed(0)} ms: ` +
      longest
        .map(
          (each) =>
            `${each.table} ${each.mode} ${each.granted ? "held" : "waited for"} for ${each.ms.toFixed(0)} to ${each.atMostMs.toFixed(0)} ms`,
        )
        .join(", "),
  );
  for (const { table, mode, granted, ms } of longest)
    assert.ok(ms < limit, `${table}: ${mode} ${granted ? "held" : "waited for"} for ${ms.toFixed(0)} ms`);
  assert.ok(
    longest.some(({ table, mode }) => table === "owners" && mode === "ShareRowExclusiveLock"),
    "the test has not seen the known lock",
  );
  // A plain CREATE INDEX takes this lock and blocks all writes, so the service must not use it.
  assert.deepEqual(
    longest.filter(({ mode }) => mode === "ShareLock"),
    [],
  );
}

/**
 * Runs a task in a separate process, like a real migration, so that it does not share an event loop with the writers.
 */
function inOwnProcess(file: string, url: string): Promise<unknown> {
  return promisify(execFile)(process.execPath, [path.join(import.meta.dirname, "../harness", file), url]);
}

function pickLongest(times: readonly number[]): number {
  return times.reduce((longest, time) => Math.max(longest, time), 0);
}

test("locks no table for half a second or longer in a migration on PostgreSQL", (t) =>
  watched(t, "a migration", (url) => inOwnProcess("locked-things.ts", url)));

test("locks no table for half a second or longer in a start that adds columns, indexes and references", (t) =>
  watched(t, "a start", async (url) => {
    const store = postgresStore({ url: new Secret(url), poolSize: 2 });
    await store.open([owners, added]);
    await store.close();
  }));

test("rebuilds an index whose build was interrupted, at the next start", async () => {
  const url = await server.makeDatabase();
  await (await fill(url)).close();
  const index = (name: string, columns: string): string => `CREATE INDEX CONCURRENTLY "${name}" ON things (${columns})`;
  await askPostgres(url, index("things(note, id)", "note, id"));
  await askPostgres(url, index("things(nothing)", "note"));
  await askPostgres(url, "UPDATE pg_index SET indisvalid = false WHERE indexrelid::regclass::text LIKE '%things(no%'");
  const store = postgresStore({ url: new Secret(url), poolSize: 2 });

  await store.open([owners, added]);

  await store.close();
  const found = await askPostgres(
    url,
    "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 'things'::regclass AND relname LIKE 'things(no%'",
  );
  assert.deepEqual(found, [{ relname: "things(note, id)", indisvalid: true }]);
});

test("reports rows that violate a new reference, and leaves no constraint behind", async () => {
  const url = await server.makeDatabase();
  await (await fill(url)).close();
  await askPostgres(url, "UPDATE things SET owner = 5000 WHERE id = 7");
  const store = postgresStore({ url: new Secret(url), poolSize: 2 });
  const before = await constraints(url);

  await assert.rejects(store.open([owners, added]), /things\.owner refers to missing rows of owners/);

  assert.deepEqual(await constraints(url), before);
  await store.close();
});

async function constraints(url: string): Promise<readonly unknown[]> {
  return askPostgres(url, "SELECT conname FROM pg_constraint WHERE conrelid = 'things'::regclass ORDER BY 1");
}
