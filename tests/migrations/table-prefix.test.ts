import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Secret } from "../../src/door/index.ts";
import { inspectPostgres, inspectSQLite, sqliteStore, StoreSetupError } from "../../src/door/stores.ts";
import { formatDeclarations } from "../../src/service/inspecting/inspect.ts";
import { ConfigError, type ConfigFile } from "../../src/service/service.ts";
import { readSettings } from "../../src/service/settings/settings.ts";
import type { Database } from "../../src/service/settings/values.ts";
import { checkDatabase, measureDatabase, restoreDatabase, backupDatabase } from "../../src/service/system/databases.ts";
import { assembleFor, migrateDatabase, planDatabase } from "../../src/service/system/migrate.ts";
import { onBoth } from "../harness/existing.ts";
import { serve } from "../harness/serve.ts";
import "../harness/doors-of-source.ts";

/** Tables like those of Rails. */
const rails = {
  sqlite: `
    CREATE TABLE "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
    CREATE TABLE "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "email" varchar DEFAULT '' NOT NULL, "encrypted_password" varchar DEFAULT '' NOT NULL,
      "created_at" datetime(6) NOT NULL, "updated_at" datetime(6) NOT NULL);
    CREATE UNIQUE INDEX "index_users_on_email" ON "users" ("email");
    CREATE TABLE "orders" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "user_id" integer NOT NULL, "total" decimal(10,2), "created_at" datetime(6) NOT NULL,
      CONSTRAINT "fk_rails_f868b47f6a" FOREIGN KEY ("user_id") REFERENCES "users" ("id"));
    CREATE INDEX "index_orders_on_user_id" ON "orders" ("user_id");
    INSERT INTO users (email, created_at, updated_at) VALUES ('their@example.com', '2026-01-31 09:30:00.123456', '2026-01-31 09:30:00.123456');
    INSERT INTO orders (user_id, total, created_at) VALUES (1, 12.5, '2026-01-31 09:30:00.123456');`,
  postgres: `
    CREATE TABLE "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
    CREATE TABLE "users" ("id" bigserial PRIMARY KEY, "email" varchar DEFAULT '' NOT NULL, "encrypted_password" varchar DEFAULT '' NOT NULL,
      "created_at" timestamp(6) NOT NULL, "updated_at" timestamp(6) NOT NULL);
    CREATE UNIQUE INDEX "index_users_on_email" ON "users" ("email");
    CREATE TABLE "orders" ("id" bigserial PRIMARY KEY, "user_id" bigint NOT NULL, "total" decimal(10,2), "created_at" timestamp(6) NOT NULL,
      CONSTRAINT "fk_rails_f868b47f6a" FOREIGN KEY ("user_id") REFERENCES "users" ("id"));
    CREATE INDEX "index_orders_on_user_id" ON "orders" ("user_id");
    INSERT INTO users (email, created_at, updated_at) VALUES ('their@example.com', '2026-01-31 09:30:00.123456', '2026-01-31 09:30:00.123456');
    INSERT INTO orders (user_id, total, created_at) VALUES (1, 12.5, '2026-01-31 09:30:00.123456');`,
};
const root = path.join(import.meta.dirname, "../..");
const secret = { LATCHKEY_SECRET: "a secret that all processes of the service know" };

onBoth("inspects and serves tables of Rails next to Latchkey's tables of the same names", rails, async (before, t) => {
  const folder = mkdtempSync(path.join(root, "tests/.inspected-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const database: Database =
    before.engine === "sqlite"
      ? { kind: "sqlite", path: before.url.replace("sqlite:", "") }
      : { kind: "postgres", url: new Secret(before.url) };
  const found = await (database.kind === "sqlite" ? inspectSQLite(database.path) : inspectPostgres(database.url));
  const own = (await assembleFor(database, {})).collections;
  const text = formatDeclarations(
    found,
    own.map(({ name }) => name),
  );
  const file = path.join(folder, "latchkey.config.ts");
  writeFileSync(file, text);
  const { default: config } = (await import(pathToFileURL(file).href)) as { readonly default: ConfigFile };
  const settings = { ...secret, LATCHKEY_DATABASE: before.url };

  const api = await serve(t, { settings, config });

  assert.equal(config.settings?.tablePrefix, "lk_", text);
  const ann = await api.user("Ann");
  const order = await api.post("/orders", {}, ann.headers);
  assert.equal(order.status, 201, order.text);
  assert.deepEqual(
    (await api.get("/users?search=ann", api.admin)).json.map(({ name }: { name: string }) => name),
    ["Ann"],
  );
  assert.equal((await api.get("/users_2", api.admin)).json[0].email, "their@example.com");
  assert.deepEqual((await api.get("/orders_2", api.admin)).json[0].total, "12.50");
  assert.equal((await api.get("/orders?expand=user,items", ann.headers)).json[0].user.id, ann.id);
  const response = await api.delete(`/users/${ann.id}`, api.admin);
  assert.match(response.json.detail, /referenced by orders/);
  assert.deepEqual(
    (await before.sql("SELECT id FROM lk_users ORDER BY id")).map(({ id }) => Number(id)),
    [1, ann.id],
  );
  assert.equal((await before.sql("SELECT * FROM users")).length, 1);
  await api.service.close();

  const place = { ...database, tablePrefix: "lk_" };
  const planned = await planDatabase(await assembleFor(place, config));
  assert.deepEqual([planned.tables, planned.obstacles], [[], []]);
  assert.deepEqual((await migrateDatabase(await assembleFor(place, config))).made, []);
  assert.deepEqual((await checkDatabase(place)).problems, []);
  assert.ok((await measureDatabase(place)).tables.some(({ table }) => table === "lk_users"));
  await assert.rejects(
    serve(t, { settings: { ...settings, LATCHKEY_TABLE_PREFIX: "other_" }, config }),
    StoreSetupError,
  );
  await assert.rejects(serve(t, { settings, config: {} }), /expects (users|accounts)/);
  const again = await serve(t, { settings, config });
  assert.equal((await again.get("/users", ann.headers)).json[0].name, "Ann");
  assert.equal((await again.delete(`/orders/${order.json.id}`, ann.headers)).status, 204);
  assert.equal((await again.delete(`/users/${ann.id}`, again.admin)).status, 204);
});

test("restores a backup of tables with a prefix, and ends logins", async (t) => {
  const folder = mkdtempSync(path.join(root, "tests/.inspected-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "own.db");
  const settings = { ...secret, LATCHKEY_DATABASE: `sqlite:${file}`, LATCHKEY_TABLE_PREFIX: "lk_" };
  const old = await serve(t, { settings });
  await old.user("Ann");
  await backupDatabase(file, `${file}.copy`, false, () => {});
  await old.service.close();

  const options = { ending: "everything", accessSeconds: 300, tablePrefix: "lk_", report: () => {} } as const;
  const { ended } = await restoreDatabase(`${file}.copy`, file, options);

  assert.deepEqual(ended, { accounts: 2, tokens: 0 });
  const api = await serve(t, { settings });
  assert.equal((await api.get("/users", api.admin)).json.length, 2);
});

test("refuses a prefix that the store or a database reserves", () => {
  for (const tablePrefix of ["latchkey_", "sqlite_", "pg_", "A", "1", "a-b", `${"a".repeat(20)}_`, "lk"]) {
    assert.throws(() => sqliteStore({ path: "x.db", tablePrefix }), /tablePrefix/);
    assert.throws(() => readSettings({ ...secret, LATCHKEY_TABLE_PREFIX: tablePrefix }), ConfigError);
  }
});
