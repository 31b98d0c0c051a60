import assert from "node:assert/strict";
import type { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { MigrationNeeded, type Collection, type Column } from "../../store.ts";
import { connect, prepare } from "../connection/connection.ts";
import { prepareSchema } from "../schema.ts";

const name: Column = { name: "name", type: "text" };
const beds: Collection = { name: "beds", key: "integer", columns: [name] };
const plants: Collection = {
  name: "plants",
  key: "integer",
  columns: [name, { name: "bed_id", type: "integer" }, { name: "size", type: "integer", nullable: true }],
  indexes: [["name"]],
};

test("makes a column nullable or required, and adds a reference, without losing a row", () => {
  const database = planted();

  prepareSchema(database, [
    beds,
    withColumns([
      { ...name, nullable: true },
      { name: "bed_id", type: "integer", references: { collection: "beds", onDelete: "cascade" } },
      { name: "size", type: "integer" },
    ]),
  ]);

  assert.deepEqual(rows(database), [[1, 5, "fern", 1, 3]]);
  database.exec(`INSERT INTO plants (id, _revision, name, bed_id, size) VALUES (2, 6, NULL, 1, 1)`);
  assert.throws(() => database.exec(`INSERT INTO plants (id, _revision, bed_id) VALUES (3, 7, 1)`), /NOT NULL/);
  assert.throws(
    () => database.exec(`INSERT INTO plants (id, _revision, bed_id, size) VALUES (3, 7, 9, 1)`),
    /FOREIGN KEY/,
  );
  database.exec("DELETE FROM beds");
  assert.deepEqual(rows(database), []);
});

test("keeps references, indexes and undeclared columns of a rebuilt table", () => {
  const database = planted();
  const referring: Collection = {
    name: "labels",
    key: "integer",
    columns: [{ name: "plant_id", type: "integer", references: { collection: "plants", onDelete: "cascade" } }],
  };
  prepareSchema(database, [beds, plants, referring]);
  database.exec("INSERT INTO labels (id, _revision, plant_id) VALUES (1, 9, 1)");

  prepareSchema(database, [
    beds,
    withColumns([
      { ...name, nullable: true },
      { name: "bed_id", type: "integer" },
    ]),
    referring,
  ]);

  assert.deepEqual(prepare(database, "SELECT name, size FROM plants").all(), [["fern", 3]]);
  assert.deepEqual(
    prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'plants'").all(),
    [["plants(name)"]],
  );
  database.exec("DELETE FROM plants");
  assert.deepEqual(prepare(database, "SELECT count(*) FROM labels").get(), [0]);
});

test("refuses a reference that some rows would break", () => {
  const database = planted();
  database.exec("UPDATE plants SET bed_id = 9");

  const problems = refused(database, [
    beds,
    withColumns([name, { name: "bed_id", type: "integer", references: { collection: "beds", onDelete: "restrict" } }]),
  ]);

  assert.match(problems[0]!, /plants\.bed_id refers to missing rows of beds/);
  assert.deepEqual(prepare(database, "PRAGMA foreign_keys").get(), [1]);
});

test("refuses a start that would change values, and shows no SQL that could lose them", () => {
  const database = planted();
  for (const size of [
    { name: "size", type: "text", nullable: true },
    { name: "size", type: "decimal", scale: 1, nullable: true },
  ] as const) {
    const problems = refused(database, [beds, withColumns([name, { name: "bed_id", type: "integer" }, size])]);

    assert.equal(problems.length, 1);
    assert.match(problems[0]!, /^plants\.size does not match its declaration\. .* run: latchkey db migrate/);
    assert.doesNotMatch(problems[0]!, /UPDATE|ALTER|DROP|DELETE/);
  }
});

test("drops undeclared required columns of an empty table", () => {
  const database = planted();
  database.exec("DELETE FROM plants");

  prepareSchema(database, [beds, withColumns([name])]);

  database.exec("INSERT INTO plants (id, _revision, name) VALUES (2, 6, 'moss')");
});

test("refuses to start if another program made a table with the same name, and does not change the table", () => {
  const database = connect(":memory:");
  database.exec("CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT)");

  assert.match(refused(database, [beds, plants])[0]!, /not made by this store/);
  assert.deepEqual(prepare(database, "SELECT name FROM sqlite_schema").all(), [["plants"]]);
});

test("refuses a database of a newer program, also if the first releases created it", () => {
  for (const newer of [
    "UPDATE latchkey_version SET version = 99",
    "DROP TABLE latchkey_version; PRAGMA user_version = 99",
  ]) {
    const database = planted();
    database.exec(newer);

    assert.match(refused(database, [beds, plants])[0]!, /schema version 99/);
  }
});

test("opens a file in which another program uses `user_version`", () => {
  const database = planted();
  assert.deepEqual(prepare(database, "PRAGMA user_version").get(), [1]);

  database.exec("CREATE TABLE theirs (id INTEGER PRIMARY KEY); PRAGMA user_version = 99");
  prepareSchema(database, [beds, plants]);

  assert.deepEqual(prepare(database, "PRAGMA user_version").get(), [99]);
});

test("keeps an index of the operator, and drops Latchkey's indexes that are no longer declared", () => {
  const database = planted();
  database.exec("CREATE INDEX by_hand ON plants (size)");

  prepareSchema(database, [beds, { name: "plants", key: "integer", columns: plants.columns }]);

  assert.deepEqual(
    prepare(database, "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'plants'").all(),
    [["by_hand"]],
  );
});

test("folds the values that were written while the column was not declared as folded", () => {
  const database = planted();
  const folded = withColumns([{ ...name, unique: "folded" }, ...plants.columns.slice(1)]);
  prepareSchema(database, [beds, folded]);
  prepareSchema(database, [beds, plants]);
  database.exec("UPDATE plants SET name = 'MOSS'");

  prepareSchema(database, [beds, folded]);

  assert.deepEqual(prepare(database, "SELECT _name_folded FROM plants").all(), [["moss"]]);
});

function planted(): DatabaseSync {
  const database = connect(":memory:");
  prepareSchema(database, [beds, plants]);
  database.exec(
    "INSERT INTO beds (id, _revision, name) VALUES (1, 4, 'south'); INSERT INTO plants (id, _revision, name, bed_id, size) VALUES (1, 5, 'fern', 1, 3)",
  );
  return database;
}

function withColumns(columns: readonly Column[]): Collection {
  return { ...plants, columns };
}

function rows(database: DatabaseSync): unknown[] {
  return prepare(database, "SELECT id, _revision, name, bed_id, size FROM plants ORDER BY id").all();
}

function refused(database: DatabaseSync, collections: readonly Collection[]): readonly string[] {
  try {
    prepareSchema(database, collections);
  } catch (error) {
    assert.ok(error instanceof MigrationNeeded, String(error));
    return error.problems;
  }
  assert.fail("the start was not refused");
}
