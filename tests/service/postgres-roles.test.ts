import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { integer, defineResource, administrator, mount, text } from "../../src/door/index.ts";
import { database as parseDatabase, type Database } from "../../src/service/settings/values.ts";
import { assembleFor, migrateDatabase } from "../../src/service/system/migrate.ts";
import { placeFor } from "../harness/cli.ts";
import { makeRoles, type Roles } from "../harness/postgres-roles.ts";
import { askPostgres, startPostgres, type TestServer } from "../harness/postgres.ts";
import { serve } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

const secret = { LATCHKEY_SECRET: "known to every process of it, at any time" };

let server: TestServer;
let database: string;
let roles: Roles;

before(async () => {
  server = await startPostgres();
  database = await server.makeDatabase();
  roles = await makeRoles(database);
});

after(() => server.stop());

test("ends a start with 78 if the serving role may not make the tables, and names the command for their owner", async () => {
  using place = placeFor({ ...secret, LATCHKEY_DATABASE: roles.service, LATCHKEY_PORT: "0" });

  const ended = await place.run([]);

  assert.equal(ended.code, 78);
  assert.match(ended.errors, /permission denied for schema public\. .*run `latchkey db migrate` as their owner/);
  assert.doesNotMatch(ended.errors, /of who/);
});

test("makes the tables by the owner's `db migrate` without a secret, lists them, and does nothing the next time", async () => {
  using place = placeFor({ LATCHKEY_DATABASE: roles.owner });

  const first = (await place.json(["db", "migrate"])) as { made: readonly string[]; changed: readonly unknown[] };
  const second = await place.run(["db", "migrate"]);

  for (const table of ["users", "accounts", "orders", "sessions"]) assert.ok(first.made.includes(table), table);
  assert.deepEqual(first.changed, []);
  assert.deepEqual([second.code, second.out], [0, "All tables match their declarations.\n"]);
});

test("serves every kind of request with the rights of a serving role", async (t) => {
  const settings = { ...secret, LATCHKEY_DATABASE: roles.service };
  const [api, other] = [await serve(t, { settings }), await serve(t, { settings })];
  const ann = await api.user("Ann");
  const login = { username: ann.email, password: ann.password };

  const pair = (await api.post("/api/token/", login)).json;
  const session = await api.post("/api/session/", login);
  const cookie = { cookie: session.headers.get("set-cookie")!.split(";")[0]! };
  const bearer = { authorization: `Bearer ${pair.access}` };
  const order = await api.post("/orders", { status: "open" }, { ...bearer, "idempotency-key": "once-and-once" });
  const again = await api.post("/orders", { status: "open" }, { ...bearer, "idempotency-key": "once-and-once" });
  const path = `/orders/${order.json.id}`;
  const results = {
    login: session.status,
    order: order.status,
    repeated: again.headers.get("idempotency-replayed"),
    item: (await api.post(`${path}/items`, { product: "Tea", quantity: 1, unit_price: "2.50" }, bearer)).status,
    patch: (await api.patch(path, { status: "paid" }, bearer)).status,
    put: (await api.put("/users/70", { name: "Bob", email: "bob@example.com" }, api.admin)).status,
    list: (await api.get("/users?name[starts]=A&sort=-name", api.admin)).json.length,
    count: (await api.ask("GET", "/users", { headers: { ...api.admin, prefer: "count=exact" } })).headers.get(
      "x-total-count",
    ),
    refresh: (await api.post("/api/token/refresh/", { refresh: pair.refresh })).status,
    token: (await api.post(`/users/${ann.id}/token`, undefined, cookie)).status,
    key: (await api.post(`/users/${ann.id}/keys`, { name: "mine", scopes: ["read"] }, cookie)).status,
    wrong: (await api.post("/api/token/", { ...login, password: "wrong password" })).status,
    logins: (await api.get(`/users/${ann.id}/sessions`, bearer)).json.length,
    deactivated: (await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin)).status,
    ended: (await api.get("/protected/", bearer)).status,
    removed: (await api.delete(path, api.admin)).status,
    deleted: (await api.delete("/users/70", api.admin)).status,
    ready: (await api.get("/readyz")).status,
    metrics: (await api.get("/metrics", api.admin)).status,
  };
  const heard = await until401(() => other.get("/protected/", bearer));

  assert.deepEqual(results, {
    login: 201,
    order: 201,
    repeated: "true",
    item: 201,
    patch: 200,
    put: 201,
    list: 2,
    count: "3",
    refresh: 200,
    token: 201,
    key: 201,
    wrong: 401,
    logins: 2,
    deactivated: 200,
    ended: 401,
    removed: 204,
    deleted: 204,
    ready: 200,
    metrics: 200,
  });
  assert.equal(heard, 401);
});

test("does not let a serving role make, change or empty a table, or become another role", async () => {
  for (const sql of [
    "CREATE TABLE mine ()",
    "CREATE TEMPORARY TABLE mine ()",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "ALTER TABLE users ADD COLUMN mine text",
    "ALTER FUNCTION latchkey_refuse(text) RENAME TO mine",
    "DROP TABLE orders",
    "TRUNCATE revocations",
    "CREATE INDEX ON users (name)",
    "CREATE TRIGGER mine BEFORE INSERT ON users EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "SET ROLE latchkey_owner",
    "ALTER ROLE latchkey_service SUPERUSER",
    "GRANT latchkey_owner TO latchkey_service",
    "COPY users TO '/tmp/users'",
    "COPY users TO PROGRAM 'cat'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM pg_authid",
  ])
    await assert.rejects(askPostgres(roles.service, sql), { code: "42501" }, sql);
});

test("refuses to start with a serving role on outdated tables, and lets the owner migrate them while another process serves", async (t) => {
  const settings = { ...secret, LATCHKEY_DATABASE: roles.service };
  const api = await serve(t, { settings });
  const books = mount(defineResource({ name: "book", fields: { title: text({ maxLength: 20 }) } }), {
    permission: administrator,
  });
  const paged = mount(
    defineResource({ name: "book", fields: { title: text({ maxLength: 20 }), pages: integer({ optional: true }) } }),
    { permission: administrator },
  );
  assert.deepEqual(await migrateDatabase(await assembleFor(read(roles.owner), { mounts: [books] })), {
    made: ["books"],
    changed: [],
    tables: [],
  });
  await serve(t, { settings, config: { mounts: [books] } });

  await assert.rejects(
    serve(t, { settings, config: { mounts: [paged] } }),
    /must be owner of table books.* `latchkey db migrate`/,
  );
  const migrated = await migrateDatabase(await assembleFor(read(roles.owner), { mounts: [paged] }));
  const newer = await serve(t, { settings, config: { mounts: [paged] } });

  assert.deepEqual([migrated.made, migrated.changed], [[], [{ table: "books", columns: ["pages"] }]]);
  assert.deepEqual(migrated.tables[0]?.words, ["books.pages: add it as integer"]);
  assert.equal((await newer.post("/books", { title: "One", pages: 3 }, newer.admin)).status, 201);
  assert.equal((await api.get("/readyz")).status, 200);
});

test("serves an existing database of a single role after its tables get an owner and a serving role", async () => {
  const old = await server.makeDatabase();
  await (await startService({ ...secret, LATCHKEY_DATABASE: old }))[Symbol.asyncDispose]();
  const { service, owner } = await makeRoles(old);

  await using started = await startService({ ...secret, LATCHKEY_DATABASE: service });

  assert.equal((await fetch(`${started.address}/readyz`)).status, 200);
  assert.deepEqual(await migrateDatabase(await assembleFor(read(owner), {})), { made: [], changed: [], tables: [] });
  const others =
    "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relowner <> 'latchkey_owner'::regrole";
  assert.deepEqual(await askPostgres(old, others), []);
});

test("makes a SQLite file by `db migrate` too, and refuses `db plan` before that", async () => {
  using place = placeFor({ LATCHKEY_DATABASE: "sqlite:new.db" });

  const planned = await place.run(["db", "plan", "--check"]);
  const made = await place.run(["db", "migrate"]);
  const again = await place.run(["db", "migrate"]);

  assert.equal(planned.code, 78);
  assert.match(planned.errors, /There is no database at new\.db/);
  assert.match(made.out, /^Made: .*users/);
  assert.equal(again.out, "All tables match their declarations.\n");
});

function read(url: string): Database {
  const parsed = parseDatabase(url);
  assert.ok("value" in parsed);
  return parsed.value;
}

/**
 * Repeats the request until its status is 401, for at most two seconds. Another process sees a revocation within a
 * second.
 */
async function until401(ask: () => Promise<{ readonly status: number }>): Promise<number> {
  const end = Date.now() + 2000;
  let { status } = await ask();
  while (status !== 401 && Date.now() < end) ({ status } = await ask());
  return status;
}
