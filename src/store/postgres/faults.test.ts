import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { askPostgres as ask, startPostgres, type TestServer } from "../../../tests/harness/postgres.ts";
import { Secret } from "../../core/crypto/secret.ts";
import type { Observation } from "../../core/observation.ts";
import {
  MigrationNeeded,
  StoreFull,
  StoreSetupError,
  StoreUnavailable,
  type Collection,
  type Store,
} from "../store.ts";
import { storeError } from "./errors.ts";
import { requireFit } from "./network/server.ts";
import { postgresStore } from "./postgres.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };
const others: Collection = { ...notes, name: "others" };

let server: TestServer;

before(async () => {
  server = await startPostgres();
});

after(() => server.stop());

test("refuses to open with a wrong URL, names the fix, and hides the password", async () => {
  const url = await server.makeDatabase();
  const cases: [change: (url: URL) => void, kind: typeof StoreUnavailable | typeof StoreSetupError, cure: RegExp][] = [
    [(each) => (each.password = "hunter2"), StoreSetupError, /Correct the user and the password/],
    [(each) => (each.username = "nobody"), StoreSetupError, /Correct the user and the password/],
    [(each) => (each.pathname = "/nowhere"), StoreSetupError, /CREATE DATABASE/],
    [(each) => (each.hostname = "nowhere.invalid"), StoreSetupError, /host name cannot be resolved/],
    [(each) => each.searchParams.set("sslmode", "require"), StoreSetupError, /sslmode/],
    [(each) => each.searchParams.set("sslrootcert", "/no/such/file"), StoreSetupError, /sslrootcert/],
    [(each) => (each.port = "1"), StoreUnavailable, /ECONNREFUSED/],
  ];

  for (const [change, kind, cure] of cases) {
    const wrong = new URL(url);
    change(wrong);
    await assert.rejects(postgresStore({ url: new Secret(wrong.href) }).open([notes]), (error: Error) => {
      assert.equal(error.constructor, kind, `${wrong.href}: ${error.stack}`);
      assert.match(error.message, cure);
      assert.doesNotMatch(error.message, /hunter2|latchkey:latchkey/);
      return true;
    });
  }
});

test("refuses a server that is too old and not in UTF-8, and names both reasons", () => {
  requireFit({ version: 140_000, encoding: "UTF8", uselessPath: null });

  assert.throws(
    () => requireFit({ version: 130_021, encoding: "LATIN1", uselessPath: null }),
    (error: unknown) =>
      error instanceof StoreSetupError && error.problems.length === 2 && /PostgreSQL 13/.test(error.message),
  );
});

for (const [uselessPath, schema] of [
  ["nope", "nope"],
  ['"$user", nope', "nope"],
  ["$user,nope , public", "nope"],
  ['"My ""shop"", 2", nope', '"My ""shop"", 2"'],
  ["my-shop", '"my-shop"'],
  ["", "public"],
] as const)
  test(`names the schema to create for the search_path ${uselessPath}`, () => {
    assert.throws(
      () => requireFit({ version: 140_000, encoding: "UTF8", uselessPath }),
      (error: unknown) => error instanceof StoreSetupError && error.message.includes(`CREATE SCHEMA ${schema};`),
    );
  });

test("names only a cure that works if the search_path is empty", () => {
  for (const uselessPath of ['""', '"", ""'])
    assert.throws(() => requireFit({ version: 140_000, encoding: "UTF8", uselessPath }), {
      message: /names no schema\. Name one: …\?options=-c%20search_path%3Dpublic\.$/,
    });
});

test("names the privileges that a user lacks", async () => {
  const url = await server.makeDatabase();
  await ask(
    url,
    "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'guest'; REVOKE CREATE ON SCHEMA public FROM PUBLIC",
  );
  const guest = new URL(url);
  guest.username = "guest";
  guest.password = "guest";

  await assert.rejects(postgresStore({ url: new Secret(guest.href) }).open([notes]), (error: Error) => {
    assert.equal(error.constructor, StoreSetupError, String(error.stack));
    assert.match(error.message, /permission denied .* `latchkey db migrate`/);
    return true;
  });
});

test("refuses to open or check a database that a newer program has changed", async (t) => {
  const { url, store } = await opened(t);
  await ask(url, "UPDATE latchkey_version SET version = 99");

  await assert.rejects(postgresStore({ url: new Secret(url) }).open([notes]), MigrationNeeded);
  await assert.rejects(store.check(), MigrationNeeded);
});

test("fails the running writes when connections are lost, and serves the next request", async (t) => {
  const { url, store, observed } = await opened(t);
  await add(store, "before");
  const blocker = await holdTable(t, url);
  const underway = assert.rejects(add(store, "lost"), StoreUnavailable);
  await until(async () => (await waiting(url)) > 0);

  await ask(url, killOthers);
  await underway;
  await blocker.end().catch(() => undefined);

  await add(store, "after");
  assert.equal(await store.count(notes, null), 2);
  assert.deepEqual(
    observed.map((each) => each.kind === "notice" && each.level),
    ["error", "info"],
  );
});

test("refuses writes and is not ready while the server is read-only, and writes again when the server allows writes", async (t) => {
  const { url, store } = await opened(t);
  const name = new URL(url).pathname.slice(1);
  await add(store, "before");
  await ask(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await ask(url, killOthers);

  await assert.rejects(add(store, "refused"), StoreUnavailable);
  await assert.rejects(store.check(), StoreUnavailable);
  assert.equal(await store.count(notes, null), 1);
  const writable = `${url}?options=-c%20default_transaction_read_only%3Doff`;
  await ask(writable, `ALTER DATABASE ${name} RESET default_transaction_read_only`);

  await store.check();
  await add(store, "after");
  assert.equal(await store.count(notes, null), 2);
});

test("finds records of other tables while another program locks one table", async (t) => {
  const { url, store } = await opened(t);
  await add(store, "locked");
  await store.write({ changes: [{ kind: "insert", collection: others, values: { text: "free" } }] });
  await Promise.all([store.find(notes, 1), store.find(others, 1)]);
  const locked = await connected(t, url);
  await locked.query("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
  const waitingFor = Promise.all([store.find(notes, 1), store.find(notes, 1)]);
  await until(async () => (await waiting(url)) > 0);

  const found = await store.find(others, 1);

  assert.equal(found?.record["text"], "free");
  assert.equal(await waiting(url), 1);
  await locked.query("ROLLBACK");
  assert.deepEqual(
    (await waitingFor).map((row) => row?.record["text"]),
    ["locked", "locked"],
  );
});

test("reads other tables while clients read one table constantly over the only connection", async (t) => {
  const { store } = await opened(t, { poolSize: 1 });
  await add(store, "asked for on and on");
  await store.write({ changes: [{ kind: "insert", collection: others, values: { text: "once" } }] });
  let isAsking = true;
  const askingOn = Array.from({ length: 8 }, async () => {
    while (isAsking) await store.find(notes, 1);
  });

  try {
    assert.equal((await store.find(others, 1))?.record["text"], "once");
  } finally {
    isAsking = false;
    await Promise.all(askingOn);
  }
});

test("keeps half of the connections free for other requests while long reads wait", async (t) => {
  const { url, store } = await opened(t, { poolSize: 4 });
  await add(store, "counted");
  await store.write({ changes: [{ kind: "insert", collection: others, values: { text: "free" } }] });
  const locked = await connected(t, url);
  await locked.query("BEGIN; LOCK TABLE notes IN ACCESS EXCLUSIVE MODE");
  const counts = Promise.all(Array.from({ length: 8 }, async () => store.count(notes, null, true)));
  await until(async () => (await waiting(url)) > 1);

  assert.equal((await store.find(others, 1))?.record["text"], "free");
  assert.equal(await waiting(url), 2);
  await locked.query("ROLLBACK");
  assert.deepEqual(new Set(await counts), new Set([1]));
});

test("never opens more connections than allowed", async (t) => {
  const { url, store } = await opened(t, { poolSize: 3 });

  await Promise.all(Array.from({ length: 60 }, (_, at) => add(store, `note ${at}`)));

  const [row] = await ask(
    url,
    "SELECT count(*)::int AS many FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'latchkey'",
  );
  assert.equal(row!["many"], 3);
  assert.equal(await store.count(notes, null), 60);
});

test("works with fewer connections if the server refuses more, and reconnects when the server accepts connections again", async (t) => {
  const url = await server.makeDatabase();
  const role = new URL(url).pathname.slice(1).replace("latchkey_test", "few");
  await ask(
    url,
    `CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT 2; ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${role}`,
  );
  t.after(() => ask(url, `REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}; DROP ROLE ${role}`));
  const store = postgresStore({
    url: new Secret(Object.assign(new URL(url), { username: role, password: "few" }).href),
  });
  t.after(() => store.close());
  await store.open([notes]);

  await Promise.all(Array.from({ length: 40 }, (_, at) => add(store, `note ${at}`)));
  assert.equal(await store.count(notes, null), 40);

  await ask(url, `ALTER ROLE ${role} CONNECTION LIMIT 0`);
  await ask(url, killOthers);
  // The first two attempts may find that an open connection is dead.
  for (let dead = 0; dead < 2; dead++) await assert.rejects(add(store, "refused"), StoreUnavailable);
  await assert.rejects(add(store, "refused"), /too many connections/);
  await assert.rejects(store.check(), StoreUnavailable);
  await ask(url, `ALTER ROLE ${role} CONNECTION LIMIT 2`);
  await store.check();
  await add(store, "after");
});

test("throws `StoreFull` if the disk of the server is full, still reads, and writes again when there is room", async (t) => {
  const { url, store } = await opened(t);
  await add(store, "before");
  await ask(
    url,
    `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$;
     CREATE TRIGGER full_disk BEFORE INSERT ON notes EXECUTE FUNCTION full_disk()`,
  );

  await assert.rejects(add(store, "refused"), StoreFull);
  assert.equal(await store.count(notes, null), 1);
  await ask(url, "DROP TRIGGER full_disk ON notes");

  await add(store, "after");
});

test("fails in less than 5 seconds if a firewall refuses connections or drops all packets", async (t) => {
  const wall = await wallBefore(t, await server.makeDatabase());
  const store = postgresStore({ url: new Secret(wall.url), poolSize: 2 });
  t.after(() => store.close());
  await store.open([notes]);
  await Promise.all([add(store, "one"), add(store, "two")]);

  wall.refuse();
  await assert.rejects(store.check(), StoreUnavailable);
  await assert.rejects(add(store, "refused"), StoreUnavailable);
  wall.open();
  await Promise.all([store.check(), add(store, "three")]);

  // The open connections stay dead, as if a router had dropped its state.
  wall.silence();
  const start = performance.now();
  const lost = [add(store, "lost"), add(store, "lost"), Promise.resolve(store.count(notes, null))].map(async (each) => {
    await assert.rejects(each, StoreUnavailable);
    return performance.now() - start;
  });
  await sleep(100);
  wall.open();
  const back = performance.now();
  const waited = await Promise.all(lost);
  await store.check();

  assert.ok(
    Math.max(...waited, performance.now() - back) < 5000,
    `${waited.join(" ")}, ${performance.now() - back} ms`,
  );
  assert.equal(await store.count(notes, null), 3);
});

test("continues a feed after a lost connection, with a delay below a second", async (t) => {
  const { url, store } = await opened(t);
  const seen: unknown[] = [];
  const feed = await store.follow(notes, ({ record }) => seen.push(record["text"]));
  assert.ok(feed.ageMs() < 1000);

  await ask(url, killOthers);
  await ask(
    url,
    "INSERT INTO notes (id, _revision, text) VALUES (latchkey_next_key('notes', 'notes', '\"notes(id) next\"'), nextval('latchkey_revision'), 'meanwhile')",
  );
  await until(async () => seen.length === 1);

  assert.deepEqual(seen, ["meanwhile"]);
  assert.ok(feed.ageMs() < 1000);
  feed.close();
});

test("shows a write in the feed of the same store at once, and in other feeds within a second", async (t) => {
  const { url, store } = await opened(t);
  for (const pooled of ["false", "true"]) {
    const other = postgresStore({ url: new Secret(`${url}?pgbouncer=${pooled}`) });
    t.after(() => other.close());
    await other.open([notes]);
    const [own, foreign]: [number[], number[]] = [[], []];
    const feeds = [
      await store.follow(notes, ({ record }) => own.push(record["id"] as number)),
      await other.follow(notes, ({ record }) => foreign.push(record["id"] as number)),
    ];

    const id = await add(store, "new");
    assert.equal(own.at(-1), id);
    const start = performance.now();
    await until(async () => foreign.at(-1) === id);
    assert.ok(performance.now() - start < 1000);
    for (const feed of feeds) feed.close();
  }
});

test("shows rows in the feed in the order of their keys, even if the first transaction is slow", async (t) => {
  const { url, store } = await opened(t);
  const seen: number[] = [];
  const feed = await store.follow(notes, ({ record }) => seen.push(record["id"] as number));
  const slow = await connected(t, url);
  await slow.query(
    "BEGIN; INSERT INTO notes (id, _revision, text) VALUES (latchkey_next_key('notes', 'notes', '\"notes(id) next\"'), nextval('latchkey_revision'), 'slow')",
  );

  const quick = add(store, "quick");
  await until(async () => (await waiting(url)) > 0);
  await slow.query("COMMIT");

  assert.equal(await quick, 2);
  assert.deepEqual(seen, [1, 2]);
  feed.close();
});

const killOthers =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'latchkey'";

async function opened(
  t: TestContext,
  options: { poolSize?: number } = {},
): Promise<{ url: string; store: Store; observed: Observation[] }> {
  const url = await server.makeDatabase();
  const observed: Observation[] = [];
  const store = postgresStore({ url: new Secret(url), observe: (each) => observed.push(each), ...options });
  t.after(() => store.close());
  await store.open([notes, others]);
  return { url, store, observed };
}

async function add(store: Store, text: string): Promise<number> {
  const outcome = await store.write({ changes: [{ kind: "insert", collection: notes, values: { text } }] });
  assert.equal(outcome.kind, "written");
  return outcome.kind === "written" ? (outcome.rows[0]!.record["id"] as number) : 0;
}

async function connected(t: TestContext, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => undefined);
  await client.connect();
  t.after(() => client.end().catch(() => undefined));
  return client;
}

/**
 * Puts a proxy in front of the database. The proxy forwards, refuses or stays silent. It never forwards again on a
 * connection that was open during a silence.
 */
async function wallBefore(t: TestContext, url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let mode: "open" | "refused" | "silent" = "open";
  const wall = createServer({ noDelay: true }, (near) => {
    if (mode === "refused") return void near.destroy();
    sockets.add(near.on("error", () => undefined));
    if (mode === "silent") return;
    const far = connect({ port: Number(port), host: hostname, noDelay: true }).on("error", () => undefined);
    sockets.add(far);
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  await once(wall, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  t.after(() => (cut(), wall.close()));
  return {
    url: Object.assign(new URL(url), { port: String((wall.address() as AddressInfo).port) }).href,
    open: () => void (mode = "open"),
    refuse: () => ((mode = "refused"), cut()),
    silence() {
      mode = "silent";
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

/** Opens a connection that blocks all writes to the table. */
async function holdTable(t: TestContext, url: string): Promise<pg.Client> {
  const client = await connected(t, url);
  await client.query("BEGIN; LOCK TABLE notes IN EXCLUSIVE MODE");
  return client;
}

async function waiting(url: string): Promise<number> {
  const [row] = await ask(
    url,
    "SELECT count(*)::int AS many FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return row!["many"] as number;
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const start = performance.now();
  while (!(await done())) {
    assert.ok(performance.now() - start < 5000, "the condition was not met within 5 seconds");
    await sleep(10);
  }
}

test("hides the refused value in the server's error message, in four languages", () => {
  for (const [message, expected] of [
    [
      'invalid input syntax for type integer: "hunter"2"',
      'invalid input syntax for type integer: "…" (SQLSTATE 22P02)',
    ],
    [
      "ungültige Eingabesyntax für Typ integer: »hunter2«",
      'ungültige Eingabesyntax für Typ integer: "…" (SQLSTATE 22P02)',
    ],
    [
      "ungültige Eingabesyntax für Typ integer: „hunter2“",
      'ungültige Eingabesyntax für Typ integer: "…" (SQLSTATE 22P02)',
    ],
    ["syntaxe en entrée invalide : « hunter2 »", 'syntaxe en entrée invalide : "…" (SQLSTATE 22P02)'],
    ["型integerの入力構文が不正です: 「hunter2」", '型integerの入力構文が不正です: "…" (SQLSTATE 22P02)'],
  ] as const) {
    const sent = Object.assign(new pg.DatabaseError(message, message.length, "error"), {
      code: "22P02",
      severity: "ERROR",
    });

    const error = storeError(sent);

    assert.ok(error instanceof TypeError);
    assert.equal(error.message, expected);
    assert.equal(error.cause, undefined);
  }
});
