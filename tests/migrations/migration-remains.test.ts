import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import {
  backupSQLite,
  checkSQLite,
  measureSQLite,
  migrateSQLite,
  planSQLite,
  sqliteCollections,
  sqliteStore,
  type Collection,
} from "../../src/door/stores.ts";
import { connect, prepare } from "../../src/store/sqlite/connection/connection.ts";
import { letGo, renameAside } from "../../src/store/sqlite/table-changes/leftover-tables.ts";

// A migration of a SQLite file replaces a table by a new one. The old table remains under another name until its rows
// are deleted. These remains are invisible, block nothing, and are removed.

const shelves: Collection = { name: "shelves", key: "integer", columns: [{ name: "name", type: "text" }] };
const books = (more: Partial<Collection["columns"][number]>, price: "integer" | "text" = "integer"): Collection => ({
  name: "books",
  key: "integer",
  columns: [
    { name: "title", type: "text", searched: true },
    { name: "price", type: price },
    { name: "shelf_id", type: "integer", nullable: true, ...more },
    { name: "next_id", type: "integer", nullable: true, references: { collection: "books", onDelete: "restrict" } },
  ],
  indexes: [["price", "id"]],
});
const restricted = { references: { collection: "shelves", onDelete: "restrict" } } as const;
const program = "1.0.0";
type Values = Readonly<Record<string, string | number | null>>;

async function createFile(t: TestContext, collection: Collection, rows = 3): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-remains-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "latchkey.db");
  await written(file, collection, async (store) => {
    for (const name of ["a", "b"])
      await store.write({ changes: [{ kind: "insert", collection: shelves, values: { name } }] });
    const row = (at: number): Values => ({
      title: `title ${at}`,
      price: at,
      shelf_id: 1,
      next_id: at === 0 ? null : at,
    });
    await store.write({
      changes: Array.from({ length: rows }, (_, at) => ({ kind: "insert", collection, values: row(at) })),
    });
  });
  return file;
}

async function written<T>(
  file: string,
  collection: Collection,
  task: (store: ReturnType<typeof sqliteStore>) => Promise<T>,
): Promise<T> {
  const store = sqliteStore({ path: file });
  await store.open([shelves, collection]);
  try {
    return await task(store);
  } finally {
    await store.close();
  }
}

function queryFile(file: string, sql: string): readonly unknown[] {
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  } finally {
    database.close();
  }
}

const left = (file: string): readonly unknown[] =>
  queryFile(
    file,
    "SELECT name FROM sqlite_schema WHERE name LIKE '%gone%' OR name LIKE '%moved%' OR name LIKE '%next'",
  );

/** Simulates a kill right after the new table has got its name. The old table still exists under another name. */
function leaveBehind(file: string): void {
  const database = connect(file);
  database.exec("PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; BEGIN");
  database.exec("CREATE TABLE copy AS SELECT * FROM books");
  const [sql] = prepare(database, "SELECT sql FROM sqlite_schema WHERE name = 'books'").get()!;
  renameAside(database, "books");
  renameAside(database, "_books_words", "books words");
  database.exec(String(sql));
  for (const columns of ["price, id", "shelf_id", "next_id"])
    database.exec(`CREATE INDEX "books(${columns}) again" ON books (${columns})`);
  database.exec("INSERT INTO books SELECT * FROM copy; DROP TABLE copy");
  letGo(database, "books");
  database.exec("UPDATE latchkey_schema SET declaration = declaration || ' '; COMMIT");
  database.close();
  assert.equal(left(file).length, 4, String(left(file)));
}

test("ignores the remains of a killed migration, and removes them with the next migration", async (t) => {
  const now = books(restricted);
  const file = await createFile(t, now);
  leaveBehind(file);

  const { tables, obstacles, remarks } = await planSQLite(file, [shelves, now]);
  const removed = await written(file, now, async (store) => {
    const forget = { kind: "deleteAll", collection: now, where: { column: "id", operator: "gte", value: 1 } } as const;
    await store.write({ changes: [{ ...forget, where: { ...forget.where, value: 3 } }] });
    await store.write({ changes: [{ ...forget, where: { ...forget.where, value: 2 } }] });
    await store.write({ changes: [forget] });
    return store.write({ changes: [{ kind: "delete", collection: shelves, key: 1 }] });
  });

  assert.deepEqual([tables, obstacles], [[], []]);
  assert.match(remarks.join("\n"), /_books_gone is left of a migration.* latchkey db migrate/);
  assert.equal(removed.kind, "written", JSON.stringify(removed));
  assert.equal((await sqliteCollections(file))?.length, 2);
  assert.deepEqual((await checkSQLite(file)).problems, []);
  assert.ok((await measureSQLite(file)).tables.length > 0);
  await backupSQLite(file, `${file}.copy`, false, () => undefined);
  assert.deepEqual(await migrateSQLite(file, [shelves, now], { program }), []);
  assert.deepEqual(left(file), []);
  assert.deepEqual((await planSQLite(file, [shelves, now])).remarks, []);
});

test("removes remains in portions, reports each portion, and continues after an interruption", async (t) => {
  const now = [shelves, books(restricted, "text")];
  const file = await createFile(t, books(restricted), 500);
  const reports: number[] = [];
  const breakOff = (done: number): void => {
    reports.push(done);
    throw new RangeError("broken off");
  };

  await assert.rejects(migrateSQLite(file, now, { program, reportRemoved: breakOff }), /broken off/);

  // A migration drops the indexes of the remains first, because deleting their entries is slow. It keeps the indexes of
  // references, because SQLite searches them when a referenced row is deleted.
  const indexes =
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '_books_gone' AND sql IS NOT NULL ORDER BY 1";
  assert.deepEqual(queryFile(file, indexes), ["books(next_id)", "books(shelf_id)"]);
  assert.deepEqual(queryFile(file, "SELECT count(*) FROM _books_gone"), [400]);
  assert.deepEqual(
    await migrateSQLite(file, now, { program, reportRemoved: (done, total) => reports.push(total - done) }),
    [],
  );
  assert.deepEqual(left(file), []);
  assert.deepEqual([reports[0], reports.at(-1)], [100, 0]);
});

test("removes old remains before a new migration starts or is cancelled", async (t) => {
  const now = books(restricted);
  const file = await createFile(t, now);
  leaveBehind(file);
  const breakOff = (): never => {
    leaveBehind(file);
    throw new RangeError("broken off");
  };

  await assert.rejects(migrateSQLite(file, [shelves, books(restricted, "text")], { program, report: breakOff }));
  const settled: string[] = [];
  await migrateSQLite(file, [shelves, now], { program, settled: () => settled.push("settled") });

  assert.deepEqual([left(file), settled], [[], []]);
  assert.deepEqual(queryFile(file, "SELECT count(*) FROM books WHERE typeof(price) = 'integer'"), [3]);
});

test("removes remains before a start changes tables, so that no name or reference conflicts", async (t) => {
  const now = books(restricted);
  const file = await createFile(t, now);
  leaveBehind(file);
  queryFile(file, `DROP INDEX "books(price, id) again"`);

  await written(file, now, async () => undefined);

  assert.deepEqual(left(file), []);
  assert.deepEqual(queryFile(file, "SELECT name FROM sqlite_schema WHERE name LIKE 'books(price%'"), [
    "books(price, id)",
  ]);
});

test("allows clients to delete rows of the referenced table while a migration makes a new reference", async (t) => {
  const old = books({});
  const file = await createFile(t, old, 300);
  let isOver = false;

  await migrateSQLite(file, [shelves, books(restricted, "text")], {
    program,
    report() {
      if (isOver) return;
      isOver = true;
      queryFile(file, "DELETE FROM shelves WHERE id = 1");
      queryFile(file, "UPDATE books SET shelf_id = 2");
    },
  });

  assert.ok(isOver);
  assert.deepEqual(queryFile(file, "SELECT DISTINCT shelf_id FROM books"), [2]);
  assert.deepEqual(queryFile(file, "SELECT count(*) FROM books"), [300]);
  assert.deepEqual([left(file), (await checkSQLite(file)).problems], [[], []]);
});

test("keeps the table unchanged and deletes the copy if a row refers to a missing row at the end of the migration", async (t) => {
  const old = books({});
  const file = await createFile(t, old, 300);

  const refused = migrateSQLite(file, [shelves, books(restricted, "text")], {
    program,
    report: () => queryFile(file, "DELETE FROM shelves WHERE id = 1"),
  });

  await assert.rejects(refused, /books was not changed: rows refer to missing rows \(id \d+, /);
  assert.deepEqual(queryFile(file, "SELECT DISTINCT typeof(price) FROM books"), ["integer"]);
  assert.deepEqual(left(file), []);
});

test("keeps custom indexes and triggers of a table in its new form", async (t) => {
  const file = await createFile(t, books({}), 300);
  queryFile(file, `CREATE UNIQUE INDEX IF NOT EXISTS main."my ""index" ON [books] (title, next_id) WHERE price >= 0`);
  queryFile(file, "CREATE INDEX other on books(price)");
  queryFile(
    file,
    "CREATE TRIGGER mine AFTER DELETE ON books BEGIN UPDATE shelves SET name = 'deleted ' || OLD.id; END",
  );

  await migrateSQLite(file, [shelves, books({}, "text")], { program });
  await migrateSQLite(file, [shelves, books({}, "integer")], { program });
  await migrateSQLite(file, [shelves, books({}, "text")], { program });

  const found = queryFile(
    file,
    "SELECT replace(name, ' again', '') || '|' || tbl_name || '|' || replace(sql, ' again', '') FROM sqlite_schema WHERE name LIKE 'my%' OR name LIKE 'other%' OR name = 'mine' ORDER BY 1",
  );
  assert.deepEqual(found, [
    "mine|books|CREATE TRIGGER mine AFTER DELETE ON books BEGIN UPDATE shelves SET name = 'deleted ' || OLD.id; END",
    `my "index|books|CREATE UNIQUE INDEX "my ""index" ON "books" (title, next_id) WHERE price >= 0`,
    `other|books|CREATE INDEX "other" on "books"(price)`,
  ]);
  // Deleting the remains has fired no trigger.
  assert.deepEqual(queryFile(file, "SELECT name FROM shelves ORDER BY id"), ["a", "b"]);
  assert.deepEqual([left(file), (await checkSQLite(file)).problems], [[], []]);
});

test("keeps custom indexes, triggers and views when a start rebuilds a table, and keeps an unfinished copy up to date", async (t) => {
  const file = await createFile(t, books({}), 300);
  const breakOff = (): never => {
    throw Object.assign(new Error("broken off"), { errcode: 5 });
  };
  await assert.rejects(migrateSQLite(file, [shelves, books({}, "text")], { program, report: breakOff }), /broken off/);
  queryFile(file, "CREATE INDEX other ON books(price)");
  queryFile(
    file,
    "CREATE TRIGGER mine AFTER DELETE ON books BEGIN UPDATE shelves SET name = 'deleted ' || OLD.id; END",
  );
  queryFile(file, "CREATE VIEW cheap AS SELECT * FROM books WHERE price < 5");

  await written(file, books(restricted), async () => undefined);
  queryFile(file, "UPDATE books SET price = price + 1000");
  queryFile(file, "DELETE FROM books WHERE id = 300");
  await written(file, books({}), async () => undefined);
  await migrateSQLite(file, [shelves, books({}, "text")], { program });

  assert.deepEqual(queryFile(file, "SELECT DISTINCT typeof(price) || (CAST(price AS INTEGER) >= 1000) FROM books"), [
    "text1",
  ]);
  assert.deepEqual(queryFile(file, "SELECT count(*) FROM books"), [299]);
  assert.deepEqual(queryFile(file, "SELECT name FROM shelves WHERE name LIKE 'deleted%'").length, 2);
  assert.deepEqual(
    queryFile(
      file,
      "SELECT name FROM sqlite_schema WHERE name LIKE 'other%' OR name IN ('mine', 'cheap') ORDER BY 1",
    ).map((name) => String(name).replace(" again", "")),
    ["cheap", "mine", "other"],
  );
  assert.deepEqual(left(file), []);
});

test("refuses a migration if a custom index uses a renamed column", async (t) => {
  const file = await createFile(t, books({}), 3);
  queryFile(file, "CREATE INDEX other ON books (price)");
  const now = books({});
  const renamed = {
    ...now,
    indexes: [],
    columns: now.columns.map((each) =>
      each.name === "price" ? { ...each, name: "euros", origin: { renamedFrom: "price" } } : each,
    ),
  };

  await assert.rejects(
    migrateSQLite(file, [shelves, renamed], { program }),
    /books was not changed: the index other.*price/,
  );
  assert.deepEqual([left(file), queryFile(file, "SELECT count(price) FROM books")], [[], [3]]);
});
