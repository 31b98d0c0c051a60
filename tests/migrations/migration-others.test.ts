import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { administrator, decimal, defineResource, mount, text } from "../../src/door/index.ts";
import type { Collection } from "../../src/door/stores.ts";
import { assembleFor, migrateDatabase } from "../../src/service/system/migrate.ts";
import { bothDatabases, type TestDatabase } from "../harness/both-databases.ts";

// Objects of other programs on our tables are never lost silently: they are kept, or the migration does not start.

const databases = bothDatabases();

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

/** Creates a table of ours with a row, and then runs SQL of another program. */
async function touched(database: TestDatabase, made: string): Promise<TestDatabase> {
  const store = database.open();
  await store.open([was]);
  await store.write({ changes: [{ kind: "insert", collection: was, values }] });
  await store.close();
  await database.run(made);
  return database;
}

const onSQLite = async (t: TestContext, made: string): Promise<TestDatabase> => touched((await databases(t))[0], made);
const onPostgres = async (t: TestContext, made: string): Promise<TestDatabase> =>
  touched((await databases(t))[1], made);

const audit =
  "CREATE TABLE audit (line text); CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; ";

for (const [what, made, pattern] of [
  ["an index", "CREATE INDEX mine ON things (title, price)", /things\.price .* index mine depends on it/],
  ["a condition of an index", "CREATE INDEX mine ON things (title) WHERE price > 0", /index mine depends on it/],
  [
    "a unique constraint",
    "ALTER TABLE things ADD CONSTRAINT mine UNIQUE (price, title)",
    /constraint mine on table things/,
  ],
  ["a check", "ALTER TABLE things ADD CONSTRAINT mine CHECK (price > 0)", /constraint mine on table things/],
  ["a view", "CREATE VIEW mine AS SELECT price FROM things", /view mine depends on it/],
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
  ["a grant", "GRANT SELECT (price) ON things TO public", /a grant on this column depends on it/],
  [
    "a reference",
    "ALTER TABLE things ADD UNIQUE (price); CREATE TABLE mine (price bigint REFERENCES things (price))",
    /on table mine/,
  ],
] as const)
  test(`refuses to replace a column on PostgreSQL if ${what} of another program depends on it`, async (t) => {
    const database = await onPostgres(t, made);

    const { obstacles } = await database.plan([now]);

    assert.ok(
      obstacles.length > 0 && obstacles.every((each) => each.startsWith("things.price ")),
      obstacles.join("\n"),
    );
    assert.match(obstacles.join("\n"), pattern);
    await assert.rejects(database.migrate([now]), pattern);
    assert.deepEqual(await database.ask("SELECT title, price FROM things"), [{ title: "one", price: "7" }]);
    assert.deepEqual(await database.ask("SELECT FROM pg_attribute WHERE attname LIKE '\\_\\_next%'"), []);
  });

test("keeps indexes, views and columns of other programs on PostgreSQL if they use no replaced column", async (t) => {
  const database = await onPostgres(
    t,
    `CREATE INDEX mine ON things (note); CREATE VIEW mine_too AS SELECT id, title FROM things;
     ALTER TABLE things ADD COLUMN extra text NOT NULL DEFAULT 'theirs'`,
  );

  await database.migrate([now]);

  assert.deepEqual(await database.ask("SELECT name, price, extra FROM things"), [
    { name: "one", price: "7.00", extra: "theirs" },
  ]);
  assert.deepEqual(await database.ask("SELECT title FROM mine_too"), [{ title: "one" }]);
  assert.equal((await database.ask("SELECT FROM pg_indexes WHERE indexname = 'mine'")).length, 1);
  assert.deepEqual((await database.plan([now])).tables, []);
});

test("keeps a column of another program in `latchkey db migrate`", async (t) => {
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

  for (const database of await databases(t)) {
    await touched(database, extra);

    const { changed } = await migrateDatabase(await assembleFor(database.place, config));

    assert.deepEqual(changed, [{ table: "things", columns: ["name", "price", "note"] }]);
    const price = database.engine === "sqlite" ? 700 : "7.00";
    assert.deepEqual(await database.ask("SELECT name, price, extra FROM things"), [
      { name: "one", price, extra: "theirs" },
    ]);
  }
});

for (const [what, made, pattern] of [
  ["a generated column", "ALTER TABLE things ADD COLUMN twice INTEGER AS (price * 2)", /things\.twice .* is generated/],
  ["a default", "ALTER TABLE things ADD COLUMN extra TEXT NOT NULL DEFAULT 'theirs'", /things\.extra .* has a default/],
] as const)
  test(`refuses to rebuild a table on SQLite if ${what} of another program would be lost`, async (t) => {
    const database = await onSQLite(t, made);

    assert.match((await database.plan([now])).obstacles.join("\n"), pattern);
    await assert.rejects(database.migrate([now]), pattern);

    assert.deepEqual(await database.ask("SELECT title, price FROM things"), [{ title: "one", price: 7 }]);
  });

for (const [what, made, pattern] of [
  [
    "a view",
    "CREATE VIEW mine AS SELECT title FROM things",
    /the view mine, .* does not fit the new table \(no such column: title\)/,
  ],
  [
    "a trigger",
    "CREATE TABLE audit (line TEXT) STRICT; CREATE TRIGGER mine AFTER UPDATE OF price ON things BEGIN INSERT INTO audit VALUES (NEW.title); END",
    /a trigger for changes of things, .* does not fit the new table \(no such column: NEW.title\)/,
  ],
  [
    "a trigger of another table",
    "CREATE TABLE other (line TEXT) STRICT; CREATE TRIGGER mine AFTER INSERT ON other BEGIN UPDATE things SET title = NEW.line; END",
    /a trigger for new rows of other, .* does not fit the new table \(no such column: title\)/,
  ],
  ["an index", "CREATE INDEX mine ON things (title, price)", /the index mine, .* does not fit the new table/],
] as const)
  test(`keeps a table on SQLite unchanged if ${what} of another program needs a column that the migration renames`, async (t) => {
    const database = await onSQLite(t, made);

    const { obstacles } = await database.plan([now]);

    assert.equal(obstacles.length, 1, obstacles.join("\n"));
    assert.match(obstacles[0]!, pattern);
    await assert.rejects(database.migrate([now]), pattern);
    assert.deepEqual(await database.ask("SELECT title, price FROM things"), [{ title: "one", price: 7 }]);
    assert.deepEqual(await database.ask("SELECT name FROM sqlite_schema WHERE name LIKE '\\_things%' ESCAPE '\\'"), []);
    const store = database.open();
    await store.open([was]);
    assert.equal(
      (await store.write({ changes: [{ kind: "update", collection: was, key: 1, values: { price: 8 } }] })).kind,
      "written",
    );
    await store.close();
  });

test("keeps views, triggers and columns of other programs on SQLite if they fit the new table", async (t) => {
  const database = await onSQLite(
    t,
    `CREATE VIEW broken AS SELECT title FROM nowhere; CREATE VIEW mine AS SELECT note FROM things; ALTER TABLE things ADD COLUMN extra TEXT;
     UPDATE things SET extra = 'theirs'; CREATE TABLE audit (line TEXT) STRICT;
     CREATE TRIGGER mine_too AFTER UPDATE ON things BEGIN INSERT INTO audit VALUES (NEW.note); END`,
  );

  await database.migrate([now]);

  assert.deepEqual(await database.ask("SELECT name, price, extra FROM things"), [
    { name: "one", price: 700, extra: "theirs" },
  ]);
  assert.deepEqual(await database.ask("SELECT note FROM mine"), [{ note: "n" }]);
  const store = database.open();
  await store.open([now]);
  await store.write({ changes: [{ kind: "update", collection: now, key: 1, values: { price: "8.50" } }] });
  await store.close();
  assert.deepEqual(await database.ask("SELECT line FROM audit"), [{ line: "n" }]);
});
