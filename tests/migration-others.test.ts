import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test, type TestContext } from "node:test";
import { Secret } from "../src/crypto/secret.ts";
import { administrator, decimal, defineResource, mount, text } from "../src/door/index.ts";
import {
  migratePostgres,
  migrateSQLite,
  planPostgres,
  planSQLite,
  postgresStore,
  sqliteStore,
  type Collection,
} from "../src/door/stores.ts";
import { migrateDatabase } from "../src/service/system/migrate.ts";
import { askPostgres, startPostgres, type TestServer } from "./postgres.ts";

// What others have made of a table of ours is never lost without a word: it goes along, or nothing begins.

let server: TestServer;

before(async () => {
  server = await startPostgres();
});

after(() => server.stop());

const was: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "title", type: "text" },
    { name: "price", type: "integer" },
    { name: "note", type: "text", nullable: true },
  ],
  indexes: [["price", "id"]],
};
const now: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "name", type: "text", origin: { renamedFrom: "title" } },
    { name: "price", type: "decimal", scale: 2 },
    { name: "note", type: "text", nullable: true },
  ],
  indexes: [["price", "id"]],
};
const values = { title: "one", price: 7, note: "n" };

/** A table of ours with a row, behind which somebody has run SQL; on PostgreSQL. */
async function onPostgres(
  made: string,
): Promise<{ readonly url: Secret; ask(sql: string): Promise<readonly unknown[]> }> {
  const address = await server.makeDatabase();
  const url = new Secret(address);
  const store = postgresStore({ url, poolSize: 1 });
  await store.open([was]);
  await store.write({ changes: [{ kind: "insert", collection: was, values }] });
  await store.close();
  await askPostgres(address, made);
  return { url, ask: (sql) => askPostgres(address, sql) };
}

/** The same in a file. */
async function onFile(
  t: TestContext,
  made: string,
): Promise<{ readonly file: string; ask(sql: string): readonly unknown[] }> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-others-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "things.db");
  const store = sqliteStore({ path: file });
  await store.open([was]);
  await store.write({ changes: [{ kind: "insert", collection: was, values }] });
  await store.close();
  const using = <T>(task: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(file);
    try {
      return task(database);
    } finally {
      database.close();
    }
  };
  using((database) => database.exec(made));
  return {
    file,
    ask: (sql) =>
      using((database) =>
        database
          .prepare(sql)
          .all()
          .map((row) => ({ ...row })),
      ),
  };
}

const audit =
  "CREATE TABLE audit (line text); CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; ";

for (const [what, made, told] of [
  ["an index", "CREATE INDEX mine ON things (title, price)", /things\.price .* index mine hangs on it/],
  ["a condition of an index", "CREATE INDEX mine ON things (title) WHERE price > 0", /index mine hangs on it/],
  [
    "a unique constraint",
    "ALTER TABLE things ADD CONSTRAINT mine UNIQUE (price, title)",
    /constraint mine on table things/,
  ],
  ["a check", "ALTER TABLE things ADD CONSTRAINT mine CHECK (price > 0)", /constraint mine on table things/],
  ["a view", "CREATE VIEW mine AS SELECT price FROM things", /view mine hangs on it/],
  ["a materialized view", "CREATE MATERIALIZED VIEW mine AS SELECT price FROM things", /materialized view mine/],
  [
    "a generated column",
    "ALTER TABLE things ADD COLUMN mine bigint GENERATED ALWAYS AS (price * 2) STORED",
    /column mine/,
  ],
  [
    "a trigger",
    `${audit}CREATE TRIGGER mine AFTER UPDATE OF price ON things FOR EACH ROW EXECUTE FUNCTION noted()`,
    /trigger mine/,
  ],
  ["a policy", "CREATE POLICY mine ON things USING (price > 0)", /policy mine/],
  ["statistics", "CREATE STATISTICS mine ON price, title FROM things", /statistics object mine/],
  ["a grant", "GRANT SELECT (price) ON things TO public", /granted of this column alone/],
  [
    "a reference",
    "ALTER TABLE things ADD UNIQUE (price); CREATE TABLE mine (price bigint REFERENCES things (price))",
    /on table mine/,
  ],
] as const)
  test(`on PostgreSQL no column is replaced under ${what} that somebody else has made: nothing begins`, async () => {
    const { url, ask } = await onPostgres(made);

    const { obstacles } = await planPostgres(url, [now]);

    assert.ok(
      obstacles.length > 0 && obstacles.every((each) => each.startsWith("things.price ")),
      obstacles.join("\n"),
    );
    assert.match(obstacles.join("\n"), told);
    await assert.rejects(migratePostgres(url, [now], { program: "1.0.0" }), told);
    assert.deepEqual(await ask("SELECT title, price FROM things"), [{ title: "one", price: "7" }]);
    assert.deepEqual(await ask("SELECT FROM pg_attribute WHERE attname LIKE '\\_\\_next%'"), []);
  });

test("on PostgreSQL what hangs on other columns stays, a column of others too", async () => {
  const { url, ask } = await onPostgres(
    `CREATE INDEX mine ON things (note); CREATE VIEW mine_too AS SELECT id, title FROM things;
     ALTER TABLE things ADD COLUMN extra text NOT NULL DEFAULT 'theirs'`,
  );

  await migratePostgres(url, [now], { program: "1.0.0" });

  assert.deepEqual(await ask("SELECT name, price, extra FROM things"), [
    { name: "one", price: "7.00", extra: "theirs" },
  ]);
  assert.deepEqual(await ask("SELECT title FROM mine_too"), [{ title: "one" }]);
  assert.equal((await ask("SELECT FROM pg_indexes WHERE indexname = 'mine'")).length, 1);
  assert.deepEqual((await planPostgres(url, [now])).tables, []);
});

test("`latchkey db migrate` leaves a column of others where it is", async (t) => {
  const extra = "ALTER TABLE things ADD COLUMN extra TEXT; UPDATE things SET extra = 'theirs'";
  const thing = defineResource({
    name: "thing",
    fields: {
      name: text({ renamedFrom: "title" }),
      price: decimal({ scale: 2, maximum: "100" }),
      note: text({ optional: true }),
    },
  });
  const config = { mounts: [mount(thing, { permission: administrator })] };
  const [{ file, ask: askFile }, { url, ask }] = [await onFile(t, extra), await onPostgres(extra)];

  for (const database of [
    { kind: "sqlite", path: file },
    { kind: "postgres", url },
  ] as const) {
    const { changed } = await migrateDatabase(database, config);
    assert.deepEqual(changed, [{ table: "things", columns: ["name", "price", "note"] }]);
  }

  assert.deepEqual(askFile("SELECT name, price, extra FROM things"), [{ name: "one", price: 700, extra: "theirs" }]);
  assert.deepEqual(await ask("SELECT name, price, extra FROM things"), [
    { name: "one", price: "7.00", extra: "theirs" },
  ]);
});

for (const [what, made, told] of [
  ["a generated column", "ALTER TABLE things ADD COLUMN twice INTEGER AS (price * 2)", /things\.twice .* is generated/],
  ["a default", "ALTER TABLE things ADD COLUMN extra TEXT NOT NULL DEFAULT 'theirs'", /things\.extra .* has a default/],
] as const)
  test(`on SQLite no table is made anew without ${what} of somebody else: nothing begins`, async (t) => {
    const { file, ask } = await onFile(t, made);

    assert.match((await planSQLite(file, [now])).obstacles.join("\n"), told);
    await assert.rejects(migrateSQLite(file, [now], { program: "1.0.0" }), told);

    assert.deepEqual(ask("SELECT title, price FROM things"), [{ title: "one", price: 7 }]);
  });

for (const [what, made, told] of [
  [
    "a view",
    "CREATE VIEW mine AS SELECT title FROM things",
    /the view mine, .* does not fit it \(no such column: title\)/,
  ],
  [
    "a trigger",
    "CREATE TABLE audit (line TEXT) STRICT; CREATE TRIGGER mine AFTER UPDATE OF price ON things BEGIN INSERT INTO audit VALUES (NEW.title); END",
    /a trigger for changes of things, .* does not fit it \(no such column: NEW.title\)/,
  ],
  [
    "a trigger of another table",
    "CREATE TABLE other (line TEXT) STRICT; CREATE TRIGGER mine AFTER INSERT ON other BEGIN UPDATE things SET title = NEW.line; END",
    /a trigger for new rows of other, .* does not fit it \(no such column: title\)/,
  ],
  ["an index", "CREATE INDEX mine ON things (title, price)", /the index mine, .* does not fit it/],
] as const)
  test(`on SQLite a table stays as it was where ${what} of somebody else would ask for what it has no more`, async (t) => {
    const { file, ask } = await onFile(t, made);

    const { obstacles } = await planSQLite(file, [now]);

    assert.equal(obstacles.length, 1, obstacles.join("\n"));
    assert.match(obstacles[0]!, told);
    await assert.rejects(migrateSQLite(file, [now], { program: "1.0.0" }), told);
    assert.deepEqual(ask("SELECT title, price FROM things"), [{ title: "one", price: 7 }]);
    assert.deepEqual(ask("SELECT name FROM sqlite_schema WHERE name LIKE '\\_things%' ESCAPE '\\'"), []);
    const store = sqliteStore({ path: file });
    await store.open([was]);
    assert.equal(
      (await store.write({ changes: [{ kind: "update", collection: was, key: 1, values: { price: 8 } }] })).kind,
      "written",
    );
    await store.close();
  });

test("on SQLite views, triggers and columns of others go along where they fit", async (t) => {
  const { file, ask } = await onFile(
    t,
    `CREATE VIEW broken AS SELECT title FROM nowhere; CREATE VIEW mine AS SELECT note FROM things; ALTER TABLE things ADD COLUMN extra TEXT;
     UPDATE things SET extra = 'theirs'; CREATE TABLE audit (line TEXT) STRICT;
     CREATE TRIGGER mine_too AFTER UPDATE ON things BEGIN INSERT INTO audit VALUES (NEW.note); END`,
  );

  await migrateSQLite(file, [now], { program: "1.0.0" });

  assert.deepEqual(ask("SELECT name, price, extra FROM things"), [{ name: "one", price: 700, extra: "theirs" }]);
  assert.deepEqual(ask("SELECT note FROM mine"), [{ note: "n" }]);
  const store = sqliteStore({ path: file });
  await store.open([now]);
  await store.write({ changes: [{ kind: "update", collection: now, key: 1, values: { price: "8.50" } }] });
  await store.close();
  assert.deepEqual(ask("SELECT line FROM audit"), [{ line: "n" }]);
});
