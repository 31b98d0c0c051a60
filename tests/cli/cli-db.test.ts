import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  defineResource,
  administrator,
  boolean,
  dateTime,
  decimal,
  integer,
  json,
  mount,
  text,
} from "../../src/door/index.ts";
import { date, number } from "../../src/door/resources.ts";
import { sqliteStore, type Change, type Collection, type CopiedCount } from "../../src/door/stores.ts";
import { database, type Database } from "../../src/service/settings/values.ts";
import { backupDatabase, checkDatabase, moveDatabase, restoreDatabase } from "../../src/service/system/databases.ts";
import { placeFor, type Machine } from "../harness/cli.ts";
import { command } from "../harness/command.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";
import { serve, type API } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

const secret = "a secret that both of the databases are served with";

let server: TestServer;

before(async () => {
  server = await startPostgres();
});

after(() => server.stop());

/** A custom resource with a column of every type. */
const books = mount(
  defineResource({
    name: "book",
    fields: {
      title: text({ maxLength: 200, unique: true }),
      pages: integer({ optional: true }),
      price: decimal({ scale: 2, maximum: "100", optional: true }),
      lent: boolean({ default: false }),
      printed_at: dateTime({ optional: true }),
      notes: json({ optional: true }),
      weight: number({ optional: true }),
      bought_on: date({ optional: true }),
    },
  }),
  { permission: administrator },
);

function serveOn(t: Parameters<typeof serve>[0], database: string): Promise<API> {
  return serve(t, {
    settings: { LATCHKEY_DATABASE: database, LATCHKEY_SECRET: secret },
    config: { mounts: [books] },
  });
}

/** Creates data and credentials. Returns the credentials, and responses to compare with later ones. */
async function fillService(api: API) {
  const ask = async (method: string, url: string, headers: Record<string, string>, body?: unknown) => {
    const reply = await api.ask(method, url, body === undefined ? { headers } : { headers, body });
    assert.ok(reply.status < 300, `${method} ${url}: ${reply.text}`);
    return reply;
  };
  const ann = await api.user("Ann");
  const login = { username: ann.email, password: ann.password };
  const logIn = async () => (await ask("POST", "/api/token/", {}, login)).json as { access: string; refresh: string };
  const session = async () => {
    const { headers } = await ask("POST", "/api/session/", {}, login);
    return { cookie: headers.get("set-cookie")!.split(";")[0]! };
  };
  const [used, living, ended] = [await logIn(), await logIn(), await logIn()];
  await ask("POST", "/api/token/refresh/", {}, { refresh: used.refresh });
  await ask("DELETE", "/api/token/", {}, { refresh: ended.refresh });
  const [openSession, closed] = [await session(), await session()];
  await ask("DELETE", "/api/session/", closed);
  const { token } = (await ask("POST", `/users/${ann.id}/token`, ann.headers)).json;
  const { key } = (await ask("POST", `/users/${ann.id}/keys`, ann.headers, { name: "laptop" })).json;
  await ask("PUT", "/users/50", api.admin, { name: "Fifty", email: "fifty@example.com" });
  const last = await api.user("Zoe");
  await ask("DELETE", `/users/${last.id}`, api.admin);
  const retried = { ...ann.headers, "idempotency-key": "order-number-one" };
  const order = await ask("POST", "/orders", retried, {});
  const item = { product: "pen", quantity: 2, unit_price: "9999999999.99" };
  await ask("POST", `/orders/${order.json.id}/items`, ann.headers, item);
  const notes = { z: [1, "ü"], a: { "2": null, "1": true } };
  const full = { title: "Ünï", pages: 7, price: "0.10", lent: true, printed_at: "2026-01-31T09:30:00Z", notes };
  await ask("POST", "/books", api.admin, full);
  await ask("POST", "/books", api.admin, { title: "bare" });
  const etag = (await ask("GET", `/users/${ann.id}`, ann.headers)).headers.get("etag")!;
  return { ann, used, living, ended, openSession, closed, token, key, last, retried, order, etag };
}

test("keeps every user, login and revocation of a service that is moved to PostgreSQL", async (t) => {
  using place = placeFor();
  const file = path.join(place.folder, "latchkey.db");
  const back = path.join(place.folder, "back.db");
  const url = await server.makeDatabase();
  const old = await serveOn(t, `sqlite:${file}`);
  const held = await fillService(old);
  const { ann, used, living, ended } = held;
  const shown = { users: await old.get("/users", old.admin), books: await old.get("/books", old.admin) };
  await old.service.close();

  const moved = await place.run(["db", "move", `sqlite:${file}`, url, "--json"]);
  const movedBack = await moveDatabase(requireDatabase(url), requireDatabase(`sqlite:${back}`), () => {});

  assert.deepEqual([moved.code, moved.errors], [0, ""]);
  // The file that was copied to PostgreSQL and back has the same rows.
  const { tables } = JSON.parse(moved.out) as { tables: readonly CopiedCount[] };
  assert.deepEqual(movedBack, tables);
  assert.ok(tables.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest)));
  assert.deepEqual(readTables(back), readTables(file));
  assert.equal(statSync(back).mode & 0o777, 0o600);
  assert.deepEqual(leftOvers(place), []);

  const api = await serveOn(t, url);
  const requestStatus = async (headers: Headers) => (await api.get("/protected/", headers)).status;
  // Valid credentials stay valid.
  const credentials = [ann.headers, held.openSession, token(held.token), token(held.key), bearer(living)];
  assert.deepEqual(await Promise.all(credentials.map(requestStatus)), [200, 200, 200, 200, 200]);
  assert.equal((await api.post("/api/token/refresh/", { refresh: living.refresh })).status, 200);
  // Ended credentials stay ended.
  assert.deepEqual(await Promise.all([held.closed, bearer(ended)].map(requestStatus)), [401, 401]);
  assert.equal((await api.post("/api/token/refresh/", { refresh: ended.refresh })).status, 401);
  api.clock.turn(30);
  assert.equal((await api.post("/api/token/refresh/", { refresh: used.refresh })).status, 401);
  // The data is the same, including the validators and the response to a retry.
  assert.equal((await api.get("/users", api.admin)).text, shown.users.text);
  assert.equal((await api.get("/books", api.admin)).text, shown.books.text);
  assert.equal((await api.get(`/users/${ann.id}`, { ...ann.headers, "if-none-match": held.etag })).status, 304);
  const replayed = await api.post("/orders", {}, held.retried);
  assert.deepEqual([replayed.headers.get("idempotency-replayed"), replayed.text], ["true", held.order.text]);
  const items = await api.get(`/orders/${held.order.json.id}/items`, ann.headers);
  assert.equal(items.json[0].unit_price, "9999999999.99");
  // Comparisons still ignore case, and no id is assigned twice.
  const taken = await api.post("/users", { name: "x", email: "ANN@example.COM" }, api.admin);
  assert.deepEqual([taken.status, taken.json.errors[0].pointer], [409, "/email"]);
  const next = await api.user("Next");
  assert.ok(next.id > held.last.id && next.id !== 50, `${next.id} was given again`);
});

test("moves, checks and restores columns of any type that are no longer declared", async (t) => {
  using place = placeFor();
  const file = path.join(place.folder, "latchkey.db");
  const url = await server.makeDatabase();
  const old = await serveOn(t, `sqlite:${file}`);
  const fields = { title: "Left", pages: 7, price: "12.50", lent: true, printed_at: "2026-01-31T09:30:00.000Z" };
  const left = { ...fields, notes: [1], weight: 0.1, bought_on: "2026-02-28" };
  await old.post("/books", left, old.admin);
  await old.service.close();
  const database = new DatabaseSync(file, { timeout: 5000 });
  const declaration = JSON.stringify({ name: "books", key: "integer", columns: [{ name: "title", type: "text" }] });
  database.prepare("UPDATE latchkey_schema SET declaration = ? WHERE collection = 'books'").run(declaration);
  database.close();

  await moveDatabase(requireDatabase(`sqlite:${file}`), requireDatabase(url), () => {});

  const backup = path.join(place.folder, "backup.db");
  await backupDatabase(file, backup, false, () => {});
  await restoreDatabase(backup, file, { ending: "nothing", accessSeconds: 60, report: () => {} });
  assert.deepEqual((await checkDatabase(requireDatabase(`sqlite:${file}`))).problems, []);
  for (const place of [url, `sqlite:${file}`]) {
    const api = await serveOn(t, place);
    assert.deepEqual((await api.get("/books", api.admin)).json, [{ id: 1, ...left }]);
  }
});

test("copies rows that refer to later rows, and references in a circle", async () => {
  using place = placeFor();
  const file = path.join(place.folder, "latchkey.db");
  const url = await server.makeDatabase();
  const parent = { name: "parent_id", type: "integer", nullable: true } as const;
  const leaf: Collection = {
    name: "leaves",
    key: "integer",
    columns: [{ ...parent, references: { collection: "nodes", onDelete: "restrict" } }],
  };
  const node: Collection = {
    name: "nodes",
    key: "integer",
    columns: [
      { ...parent, references: { collection: "nodes", onDelete: "cascade" } },
      { name: "leaf_id", type: "integer", nullable: true, references: { collection: "leaves", onDelete: "restrict" } },
    ],
  };
  const store = sqliteStore({ path: file });
  await store.open([leaf, node]);
  const insert = (collection: Collection, key: number): Change => ({ kind: "insert", collection, key, values: {} });
  await store.write({ changes: [insert(node, 1), insert(node, 2), insert(leaf, 7)] });
  const nodeValues = { parent_id: 2, leaf_id: 7 };
  await store.write({
    changes: [
      { kind: "update", collection: node, key: 1, values: nodeValues },
      { kind: "update", collection: leaf, key: 7, values: { parent_id: 1 } },
    ],
  });
  await store.close();

  const copied = await moveDatabase(requireDatabase(`sqlite:${file}`), requireDatabase(url), () => {});

  assert.deepEqual(await askPostgres(url, "SELECT id, parent_id, leaf_id FROM nodes ORDER BY id"), [
    { id: "1", parent_id: "2", leaf_id: "7" },
    { id: "2", parent_id: null, leaf_id: null },
  ]);
  assert.equal(copied.find(({ table }) => table === "leaves")!.rows, 1);
  await assert.rejects(askPostgres(url, "DELETE FROM leaves"), /reference nodes\(leaf_id\)/);
});

test("names the fix for an impossible move, and changes nothing", async (t) => {
  using place = placeFor();
  const at = (name: string): string => path.join(place.folder, name);
  writeFileSync(at("text.db"), "no database, but a text that is longer than any header".repeat(10));
  const make = (name: string, sql: string): void => {
    const database = new DatabaseSync(at(name));
    database.exec(sql);
    database.close();
  };
  make("other.db", "CREATE TABLE things (id INTEGER)");
  make("newer.db", "CREATE TABLE latchkey_schema (collection TEXT); PRAGMA user_version = 99");
  const [full, empty] = [await server.makeDatabase(), await server.makeDatabase()];
  const onPostgres = await serveOn(t, full);
  await serveOn(t, `sqlite:${at("used.db")}`);
  await (await serveOn(t, `sqlite:${at("good.db")}`)).service.close();
  await (await serveOn(t, `sqlite:${at("nul.db")}`)).service.close();
  make("nul.db", "UPDATE users SET name = 'a' || char(0) || 'b'");
  const rows = [
    { from: `sqlite:${at("used.db")}`, to: empty, says: /is open in another process. Stop the service/ },
    { from: `sqlite:${at("none.db")}`, to: empty, says: /There is no file/ },
    { from: `sqlite:${at("text.db")}`, to: empty, says: /is not a SQLite database/ },
    { from: `sqlite:${at("other.db")}`, to: empty, says: /is not a database of Latchkey/ },
    { from: `sqlite:${at("newer.db")}`, to: empty, says: /schema version 99, but this program knows/ },
    // The message names the row, so that the operator can find the value, but does not show the value.
    {
      from: `sqlite:${at("nul.db")}`,
      to: empty,
      says: /^users has a value that the target cannot store\. Column name is of type text and cannot hold a text with U\+0000, in the row with id 1$/,
    },
    { from: `sqlite:${at("good.db")}`, to: full, says: /has tables of Latchkey already. Name an empty/ },
    { from: `sqlite:${at("good.db")}`, to: `sqlite:${at("text.db")}`, says: /exists already/ },
    { from: empty, to: `sqlite:${at("to.db")}`, says: /has no tables of Latchkey/ },
    { from: full, to: `sqlite:${at("to.db")}`, says: /is in use by \d+ connections of Latchkey/ },
  ];

  for (const { from, to, says } of rows) {
    const move = moveDatabase(requireDatabase(from), requireDatabase(to), () => {});
    await assert.rejects(move, (error: Error) => says.test(error.message) && !error.message.includes(":latchkey@"));
  }
  assert.equal((await onPostgres.get("/protected/", onPostgres.admin)).status, 200);
  assert.deepEqual(await askPostgres(empty, "SELECT relname FROM pg_class WHERE relname LIKE 'latchkey%'"), []);
  assert.ok(!existsSync(at("to.db")));
  assert.deepEqual(leftOvers(place), []);

  const commands = [
    { from: "postgres://ann:do-not-show@127.0.0.1:1/none", code: 1, says: /"detail":"PostgreSQL.*ECONNREFUSED/ },
    { from: "sqlite::memory:", code: 2, says: /is in memory/ },
    { from: "mysql://ann:do-not-show@host/db", code: 2, says: /of mysql, which is not supported/ },
  ];
  await Promise.all(
    commands.map(async ({ from, code, says }) => {
      const refused = await place.run(["db", "move", from, empty, "--json"]);

      assert.deepEqual([refused.code, refused.out], [code, ""], refused.errors);
      assert.match(refused.errors, says);
      assert.doesNotMatch(refused.errors, /do-not-show|:latchkey@/);
    }),
  );
});

test("leaves the target empty if a move is killed, so that the move can start again", async (t) => {
  using place = placeFor();
  const file = `sqlite:${path.join(place.folder, "latchkey.db")}`;
  const url = await server.makeDatabase();
  await (await serveOn(t, file)).service.close();
  // The move collects PostgreSQL's statistics (ANALYZE) after all other writes. This lock makes the move wait there.
  const blocker = new pg.Client({ connectionString: url });
  await blocker.connect();
  await blocker.query("BEGIN; LOCK TABLE pg_statistic IN SHARE MODE");
  const child = spawn(process.execPath, [command, "db", "move", file, url]);
  const waiting =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'ANALYZE%' AND wait_event_type = 'Lock'";
  while ((await askPostgres(url, waiting)).length === 0) await sleep(20);

  child.kill("SIGKILL");
  await once(child, "exit");
  await blocker.end();

  await moveDatabase(requireDatabase(file), requireDatabase(url), () => {});
  const api = await serveOn(t, url);
  assert.equal((await api.get("/protected/", api.admin)).status, 200);
});

test("writes a backup of one state during other writes, without a secret", async () => {
  await using service = await startService();
  using place = placeFor({ LATCHKEY_DATABASE: `sqlite:${service.file}` });
  const headers = {
    authorization: `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}`,
    "content-type": "application/json",
  };
  let writing = true;
  let made = 0;
  const lane = (async () => {
    while (writing) {
      const body = JSON.stringify({ name: "x", email: `${made}@example.com` });
      const { status } = await fetch(`${service.address}/users`, { method: "POST", headers, body });
      assert.equal(status, 201);
      made++;
    }
  })();
  const before = made;
  const first = await place.run(["db", "backup", "copy.db"]);
  const then = made;
  const [second, checked] = await Promise.all([place.run(["db", "backup", "copy.db"]), place.run(["db", "check"])]);
  await assert.rejects(
    backupDatabase(service.file, service.file, true, () => {}),
    /is the database itself/,
  );
  const forced = (await place.json(["db", "backup", "copy.db", "--force"])) as { bytes: number };
  writing = false;
  await lane;

  const file = path.join(place.folder, "copy.db");
  assert.deepEqual([first.code, second.code], [0, 1]);
  assert.match(first.out, /latchkey\.secret\) is not in it/);
  assert.match(second.errors, /replace it with --force/);
  assert.deepEqual([statSync(file).mode & 0o777, statSync(file).size], [0o600, forced.bytes]);
  assert.deepEqual(readdirSync(place.folder), ["copy.db"]);
  assert.ok(
    !readFileSync(file, "latin1").includes(
      readFileSync(path.join(path.dirname(service.file), "latchkey.secret"), "latin1").trim(),
    ),
  );
  const copy = new DatabaseSync(file, { readOnly: true });
  const { users, accounts } = copy
    .prepare("SELECT (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM accounts) AS accounts")
    .get() as { users: number; accounts: number };
  copy.close();
  assert.equal(users, accounts);
  assert.ok(before <= users && then <= users && users <= made + 1);
  assert.match(checked.out, /^users +\d+$/m);
  assert.match(checked.out, /no damage was found/);
});

test("restores the backup, keeps the old database, and revokes older logins", async (t) => {
  using place = placeFor({ LATCHKEY_DATABASE: "sqlite:latchkey.db" });
  const file = path.join(place.folder, "latchkey.db");
  const copy = path.join(place.folder, "copy.db");
  const old = await serveOn(t, `sqlite:${file}`);
  const held = await fillService(old);
  await backupDatabase(file, copy, false, () => {});
  // Two changes after the backup: a logout, which the restore must not undo, and a new user, whom the restore must
  // remove.
  await old.delete("/api/session/", held.openSession);
  const late = await old.user("Late");
  const lost = await old.post("/api/token/", { username: late.email, password: late.password });
  const changed = await old.patch(`/users/${held.ann.id}`, { name: "Ann the Second" }, held.ann.headers);
  writeFileSync(path.join(place.folder, "cut.db"), readFileSync(copy).subarray(0, 20_000));
  const running = await place.run(["db", "restore", "copy.db", "--json"]);
  await old.service.close();
  const untouched = readTables(file);

  const [cut, itself] = await Promise.all([
    place.run(["db", "restore", "cut.db"]),
    place.run(["db", "restore", "latchkey.db"]),
  ]);
  const restored = await place.run(["db", "restore", "copy.db", "--json"]);

  assert.deepEqual([running.code, cut.code, itself.code], [1, 1, 1]);
  assert.match(running.errors, /"code":"in_use".*is open in another process/);
  assert.match(cut.errors, /damaged/);
  assert.match(itself.errors, /is the database itself/);
  assert.equal(restored.code, 0, restored.errors);
  const { aside, ended } = JSON.parse(restored.out) as { aside: string; ended: unknown };
  assert.deepEqual(ended, { accounts: 3, tokens: null });
  assert.match(aside, /latchkey\.db\.before-restore-2\d{7}T\d{6}/);
  const names = readdirSync(place.folder).toSorted();
  assert.deepEqual(names, ["copy.db", "cut.db", "latchkey.db", path.basename(aside)]);
  assert.deepEqual(readTables(aside), untouched);
  assert.deepEqual(leftOvers(place), []);
  const api = await serveOn(t, `sqlite:${file}`);
  const requestStatus = async (headers: Headers) => (await api.get("/protected/", headers)).status;
  const permanent = [held.ann.headers, token(held.token), token(held.key)];
  const ofLogins = [held.openSession, bearer(held.living), bearer(lost.json)];
  assert.deepEqual(await Promise.all(permanent.map(requestStatus)), [200, 200, 200]);
  assert.deepEqual(await Promise.all(ofLogins.map(requestStatus)), [401, 401, 401]);
  assert.equal((await api.post("/api/token/refresh/", { refresh: held.living.refresh })).status, 401);
  assert.ok(!(await api.get("/users", api.admin)).text.includes("late@"));
  // The restore does not reuse revisions, so that two states of a record never have the same revision.
  const anew = await api.patch(`/users/${held.ann.id}`, { name: "Ann the Third" }, held.ann.headers);
  assert.deepEqual([changed.status, anew.status], [200, 200]);
  assert.ok((await api.user("Newcomer")).id > late.id);
  const states = await Promise.all([
    api.get(`/users/${held.ann.id}`, held.ann.headers),
    api.get(`/users/${held.ann.id}`, { ...held.ann.headers, "if-none-match": changed.headers.get("etag")! }),
  ]);
  assert.deepEqual(
    states.map(({ status }) => status),
    [200, 200],
  );
});

test("keeps sessions, tokens and keys after a restore, or revokes all of them, as the option `ending` says", async (t) => {
  using place = placeFor();
  const file = path.join(place.folder, "latchkey.db");
  const copy = path.join(place.folder, "copy.db");
  const old = await serveOn(t, `sqlite:${file}`);
  const held = await fillService(old);
  await backupDatabase(file, copy, false, () => {});
  await old.service.close();
  const credentials = [held.openSession, bearer(held.living), token(held.token), token(held.key)];
  const endings = [
    { ending: "nothing", ended: null, statuses: [200, 200, 200, 200] },
    { ending: "everything", ended: { accounts: 3, tokens: 2 }, statuses: [401, 401, 401, 401] },
  ] as const;

  for (const { ending, ended, statuses } of endings) {
    const restored = await restoreDatabase(copy, file, { ending, accessSeconds: 300, report: () => {} });

    const api = await serveOn(t, `sqlite:${file}`);
    assert.deepEqual(restored.ended, ended);
    const answers = credentials.map(async (headers) => (await api.get("/protected/", headers)).status);
    assert.deepEqual(await Promise.all(answers), statuses);
    await api.service.close();
  }
});

test("finds a damaged database with check, and moves it away with a restore", async (t) => {
  using place = placeFor({ LATCHKEY_DATABASE: "sqlite:latchkey.db" });
  const file = path.join(place.folder, "latchkey.db");
  const old = await serveOn(t, `sqlite:${file}`);
  await old.service.close();
  const copy = path.join(place.folder, "copy.db");
  await backupDatabase(file, copy, false, () => {});
  const bytes = readFileSync(file);
  bytes.fill(0xaa, 8192, bytes.length - 4096);
  writeFileSync(file, bytes);
  writeFileSync(`${file}-wal`, "left by a crash");

  const checked = await place.run(["db", "check", "--json"]);
  const { aside } = await restoreDatabase(copy, file, { ending: "logins", accessSeconds: 300, report: () => {} });

  assert.equal(checked.code, 1);
  assert.match(checked.out + checked.errors, /damaged|malformed|problems/);
  assert.deepEqual(readFileSync(aside!), bytes);
  const api = await serveOn(t, `sqlite:${file}`);
  assert.equal((await api.get("/users", api.admin)).json.length, 1);
});

test("names PostgreSQL's tools for backup and restore, and reports the tables of a PostgreSQL database with `db check`", async (t) => {
  const url = await server.makeDatabase();
  await (await serveOn(t, url)).service.close();
  using place = placeFor({ LATCHKEY_DATABASE: url });

  const [backup, restore, check] = await Promise.all([
    place.run(["db", "backup", "x"]),
    place.run(["db", "restore", "x"]),
    place.run(["db", "check"]),
  ]);

  assert.deepEqual([backup.code, restore.code, check.code], [1, 1, 0]);
  assert.match(backup.errors, /pg_dump/);
  assert.match(restore.errors, /pg_restore/);
  assert.match(check.out, /^users +1$/m);
  assert.match(check.out, /Schema version \d+; no damage was found/);
});

type Headers = Readonly<Record<string, string>>;

function bearer({ access }: { readonly access: string }): Headers {
  return { authorization: `Bearer ${access}` };
}

function token(text: string): Headers {
  return { authorization: `Token ${text}` };
}

function requireDatabase(text: string): Database {
  const parsed = database(text);
  assert.ok("value" in parsed);
  return parsed.value;
}

/** The tables of the migration history. A copy always has them. The original has them only after a migration. */
const history = ["latchkey_migrations", "latchkey_unfinished"];

/**
 * Returns every row of every table in SQLite, except declarations, the next ids of tables, search indexes and an empty
 * migration history.
 */
function readTables(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true, returnArrays: true });
  const names = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('latchkey_schema', 'latchkey_keys') AND name NOT LIKE '%words' ORDER BY name",
    )
    .all();
  const tables = (names as unknown as string[][]).map(([name]) => [
    name,
    database.prepare(`SELECT * FROM "${name!}" ORDER BY 1`).all(),
  ]);
  database.close();
  return tables.filter(([name, rows]) => rows!.length > 0 || !history.includes(String(name)));
}

/** Returns the files that an interrupted command has left. */
function leftOvers({ folder }: Machine): readonly string[] {
  return readdirSync(folder).filter((name) => /\.(?:moving|backup|restoring)-/.test(name));
}

test("refuses to remove a column that does not exist or is declared, and refuses a misspelt option", async () => {
  using place = placeFor({ LATCHKEY_DATABASE: "sqlite:latchkey.db" });
  await place.run(["db", "migrate"]);

  const misspelt = await place.run(["db", "plan", "--allow-data-loss", "users.nickname"]);
  const refused = await place.run(["db", "migrate", "--allow-data-loss", "users.name"]);
  const unknown = await place.run(["db", "plan", "--allow-dataloss", "users.name"]);
  const elsewhere = await place.run(["db", "check", "--allow-data-loss", "users.name"]);

  assert.deepEqual(
    [misspelt, refused, unknown, elsewhere].map(({ code }) => code),
    [2, 2, 2, 2],
  );
  assert.match(misspelt.errors, /--allow-data-loss: users\.nickname cannot be removed/);
  assert.match(refused.errors, /users\.name cannot be removed: it is declared/);
});
