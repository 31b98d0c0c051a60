import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { askPostgres as ask, startPostgres, type TestServer } from "../../../../tests/harness/postgres.ts";
import { Secret } from "../../../core/crypto/secret.ts";
import type { Observation } from "../../../core/observation.ts";
import { StoreTimeout, type Change, type Collection, type Store } from "../../store.ts";
import { postgresStore } from "../postgres.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };

let server: TestServer;

before(async () => {
  server = await startPostgres();
});

after(() => server.stop());

async function opened(
  t: TestContext,
  statementTimeoutMs: number,
  poolSize = 10,
): Promise<{ readonly store: Store; readonly url: string; readonly observed: Observation[] }> {
  const url = await server.makeDatabase();
  const observed: Observation[] = [];
  const observe = (each: Observation): void => void observed.push(each);
  const store = postgresStore({ url: new Secret(url), statementTimeoutMs, poolSize, observe });
  t.after(() => store.close());
  await store.open([notes]);
  return { store, url, observed };
}

test("limits the time of each change in a transaction, not of all changes together", async (t) => {
  const { store, url } = await opened(t, 2000);
  const made = await store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "0" } }] });
  assert.equal(made.kind, "written");
  await ask(
    url,
    "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NEW; END'; " +
      "CREATE TRIGGER slow BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION slow()",
  );
  const changes = Array.from({ length: 1300 }, (_, at): Change => ({
    kind: "update",
    collection: notes,
    key: 1,
    values: { text: String(at + 1) },
  }));

  const outcome = await store.write({ changes });
  const refused = await store.write({ changes: [{ ...changes[0]!, revision: 1 } as Change, ...changes] });

  assert.equal(outcome.kind, "written");
  assert.equal((await store.find(notes, 1))!.record["text"], "1300");
  assert.deepEqual(refused, { kind: "stale", change: 0 });
});

test("limits the time of each statement that inserts many rows, not of all rows of the transaction", async (t) => {
  const { store, url } = await opened(t, 2000);
  await ask(
    url,
    "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.002); RETURN NEW; END'; " +
      "CREATE TRIGGER slow BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION slow()",
  );
  const insert = (text: string): Change => ({ kind: "insert", collection: notes, values: { text } });
  const texts = Array.from({ length: 1500 }, (_, at) => String(at));

  const outcome = await store.write({ changes: texts.map(insert) });

  assert.equal(outcome.kind, "written");
  assert.equal(await store.count(notes, null), texts.length);
});

test("keeps half of the connections free for other requests while long writes wait", async (t) => {
  const { store, url } = await opened(t, 10_000, 4);
  await ask(
    url,
    "CREATE TABLE gate (); CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN LOCK TABLE gate IN SHARE MODE; RETURN NEW; END'",
  );
  await ask(
    url,
    "CREATE TRIGGER wait BEFORE INSERT ON notes FOR EACH ROW WHEN (NEW.text = 'long') EXECUTE FUNCTION wait()",
  );
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query("BEGIN; LOCK TABLE gate IN ACCESS EXCLUSIVE MODE");
  let done = 0;
  const insert = (text: string): Change => ({ kind: "insert", collection: notes, values: { text } });
  const long = Array.from({ length: 8 }, () =>
    store.write({ changes: Array.from({ length: 101 }, () => insert("long")) }).finally(() => done++),
  );

  const short = await store.write({ changes: [insert("short")] });
  const listed = await store.list({ collection: notes, where: null, sort: [{ column: "id" }], limit: 10 });

  assert.deepEqual([short.kind, listed.length, done], ["written", 1, 0]);
  await holder.query("COMMIT");
  await holder.end();
  const outcomes = await Promise.all(long);
  assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(["written"]));
  assert.equal(await store.count(notes, null), 8 * 101 + 1);
});

test("does not report the server as down when a long read times out", async (t) => {
  const { store, url, observed } = await opened(t, 200);
  const holder = new pg.Client(url);
  holder.on("error", () => undefined);
  await holder.connect();
  t.after(() => holder.end());
  await holder.query("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
  const list = { collection: notes, where: null, sort: [{ column: "text" }], limit: 10, long: true } as const;

  await assert.rejects(async () => store.listJSON(list), StoreTimeout);
  await assert.rejects(async () => store.count(notes, null, true), StoreTimeout);
  assert.equal(observed.length, 0);

  // A short read that times out is reported.
  await assert.rejects(async () => store.find(notes, 1), StoreTimeout);
  await sleep(0);
  assert.deepEqual(
    observed.map((each) => (each.kind === "notice" ? each.message : each.kind)),
    ["PostgreSQL does not answer"],
  );
});

test("sets a limit of 10 seconds for idle transactions, also behind a pooler", async (t) => {
  const url = await server.makeDatabase();
  for (const pooled of [false, true]) {
    const store = postgresStore({ url: new Secret(`${url}?pgbouncer=${pooled}`) });
    t.after(() => store.close());
    await store.open([notes]);
    await ask(
      url,
      "CREATE OR REPLACE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS " +
        "'BEGIN NEW.text := current_setting(''idle_in_transaction_session_timeout''); RETURN NEW; END'; " +
        "CREATE OR REPLACE TRIGGER tell BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION tell()",
    );

    const made = await store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "" } }] });

    assert.equal(made.kind === "written" && made.rows[0]!.record["text"], "10s");
  }
});

test("reports a read-only server immediately to all requests, also to those that wait for a connection", async (t) => {
  const { store, url } = await opened(t, 4000, 1);
  const insert = { kind: "insert", collection: notes, values: { text: "" } } as const;
  await store.write({ changes: [insert] });
  await setReadOnly(url, true);
  t.after(() => setReadOnly(url, false));

  const all = await Promise.allSettled(Array.from({ length: 12 }, async () => store.write({ changes: [insert] })));

  for (const each of all) assert.match(each.status === "rejected" ? String(each.reason) : "", /read-only/);
  await setReadOnly(url, false);
  assert.equal((await store.write({ changes: [insert] })).kind, "written");
});

test("looks up an idempotency key without the expiry index, even if all keys have expired", async (t) => {
  const { store, url } = await opened(t, 4000);
  await ask(
    url,
    "INSERT INTO latchkey_idempotency SELECT '7 ' || n, 'a', '[]', n FROM generate_series(1, 5000) AS n; ANALYZE latchkey_idempotency",
  );
  const [now, expiresAt] = ["2026-01-31T09:30:00.000Z", "2026-02-01T09:30:00.000Z"];
  const idempotency = { key: "7 5", columns: ["id"], erasable: false, fingerprint: "a", expiresAt, now };

  assert.equal(await store.recall(idempotency), null);
  await store.close();

  // The server counts the reads of a connection when the connection closes.
  const others = "SELECT FROM pg_stat_activity WHERE application_name = 'latchkey' AND datname = current_database()";
  while ((await ask(url, others)).length > 0) await sleep(10);
  assert.deepEqual(
    await ask(url, "SELECT idx_scan::int FROM pg_stat_user_indexes WHERE indexrelname = 'latchkey_idempotency_expiry'"),
    [{ idx_scan: 0 }],
  );
});

/** Sets the server to read-only or back, and waits until the setting applies to new statements. */
async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  await ask(url, `ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly}`);
  await ask(url, "SELECT pg_reload_conf()");
  const read = "SELECT current_setting('default_transaction_read_only') = 'on' AS is";
  while ((await ask(url, read))[0]!["is"] !== isReadOnly) await sleep(10);
}
