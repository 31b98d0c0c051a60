import assert from "node:assert/strict";
import { test } from "node:test";
import { letterForms } from "../fold.ts";
import { comparingFolded } from "../sql/folding.ts";
import type { Collection } from "../store.ts";
import { playOn, prepare } from "./connection/connection.ts";
import { addFunctions } from "./connection/functions.ts";
import { DatabaseSync } from "./connection/node-sqlite.ts";
import { getTable } from "./dialect.ts";
import { prepareSchema } from "./schema.ts";
import { sqliteSchema } from "./table-changes/migration.ts";

const people: Collection = {
  name: "people",
  key: "integer",
  columns: [
    { name: "name", type: "text", folded: true },
    { name: "town", type: "text", folded: true, nullable: true },
    { name: "email", type: "text", unique: "folded" },
  ],
};
const visits: Collection = { name: "visits", key: "text", columns: [{ name: "place", type: "text", folded: true }] };
const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;

/**
 * Creates a database, functions for the writes of another program, and a comparison of the folded columns that uses a
 * test clock.
 */
function setUp(rows: number) {
  const database = new DatabaseSync(":memory:", { returnArrays: true });
  addFunctions(database);
  prepareSchema(database, [people, visits]);
  const write = (sql: string): void => database.exec(sql);
  write(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${rows}) INSERT INTO people (id, _revision, name, _name_folded, email, _email_folded) SELECT i, i, 'Ann ' || i, 'ann ' || i, 'E' || i, 'e' || i FROM n`,
  );
  const clock = { now: 0 };
  const comparing = comparingFolded(sqliteSchema, [people, visits], { getTable, now: () => clock.now })!;
  const ask = (sql: string): unknown[] => prepare(database, sql).all().flat();

  /** Runs all portions that are due. Returns their number. */
  function compare(): number {
    for (let portions = 0; ; portions++) if (!playOn(database, comparing.next())) return portions;
  }
  return { write, ask, compare, comparing, clock, database };
}

test("corrects the folded values of rows that another program wrote, except in unique columns", () => {
  const { write, ask, compare } = setUp(2500);
  write("UPDATE people SET name = 'ÉVA' WHERE id IN (1, 1000, 1001, 2500)");
  write("UPDATE people SET name = 'straße', _name_folded = 'straße' WHERE id = 7");
  write("UPDATE people SET town = 'Köln' WHERE id = 8");
  write("UPDATE people SET _town_folded = 'gone' WHERE id = 9");
  write("UPDATE people SET email = 'other' WHERE id = 10");
  write("INSERT INTO visits (id, _revision, place) VALUES ('v', 1, 'Rome')");
  // The folded values of an earlier version.
  for (const [at, form] of [...letterForms.keys()].entries())
    write(`UPDATE people SET name = 'X${form}', _name_folded = 'x${form}' WHERE id = ${2000 + at}`);
  const revisions = ask("SELECT sum(_revision) FROM people");

  compare();

  assert.deepEqual(ask("SELECT _name_folded FROM people WHERE id IN (2000, 2001)"), ["xs", "xσ"]);
  assert.deepEqual(ask("SELECT id FROM people WHERE _name_folded = 'éva'"), [1, 1000, 1001, 2500]);
  assert.deepEqual(ask("SELECT id, _town_folded FROM people WHERE _town_folded IS NOT NULL"), [8, "köln"]);
  assert.deepEqual(ask("SELECT _place_folded FROM visits"), ["rome"]);
  assert.deepEqual(ask("SELECT _email_folded FROM people WHERE id = 10"), ["e10"]);
  assert.deepEqual(ask("SELECT sum(_revision) FROM people"), revisions);
  assert.deepEqual(ask("SELECT count(*) FROM people WHERE _name_folded IS NOT latchkey_case_fold(name)"), [0]);
});

test("compares a thousand rows at a time, and waits longer after each comparison that corrects nothing", () => {
  const { write, ask, compare, clock } = setUp(2500);
  write("UPDATE people SET name = 'Bob' WHERE id = 3");
  const pauses: number[] = [];
  const nextPause = (): number => {
    const before = clock.now;
    while (compare() === 0) clock.now += SECOND;
    return (clock.now - before) / SECOND;
  };

  // Three portions of people, the end of people, and the end of visits.
  assert.equal(compare(), 5);
  for (let time = 0; time < 4; time++) pauses.push(nextPause());
  write("UPDATE people SET name = 'Cid' WHERE id = 4");
  pauses.push(nextPause(), nextPause(), nextPause());

  assert.deepEqual(pauses, [5, 10, 20, 40, 80, 5, 10]);
  assert.deepEqual(ask("SELECT _name_folded FROM people WHERE id IN (3, 4)"), ["bob", "cid"]);
  for (let time = 0; time < 20; time++) {
    clock.now += DAY;
    assert.equal(compare(), 5, "all rows are compared at least once a day");
  }
});

test("waits twenty times as long as a comparison took before it starts the next one", () => {
  const { compare, comparing, clock, database } = setUp(2500);

  assert.equal(playOn(database, comparing.next()), true);
  clock.now += 60 * SECOND;
  compare();

  clock.now += 1200 * SECOND - 1;
  assert.equal(compare(), 0);
  clock.now += 1;
  assert.equal(compare(), 5);
});

test("continues with the next table if one table cannot be compared", () => {
  const { write, ask, comparing, database } = setUp(1);
  write("ALTER TABLE people RENAME TO elsewhere");
  write("INSERT INTO visits (id, _revision, place) VALUES ('v', 1, 'Rome')");

  assert.throws(() => playOn(database, comparing.next()), /no such table/);
  comparing.failed();
  playOn(database, comparing.next());

  assert.deepEqual(ask("SELECT _place_folded FROM visits"), ["rome"]);
});

test("compares nothing if no column is folded", () => {
  const plain: Collection = { name: "plain", key: "integer", columns: [{ name: "name", type: "text" }] };

  assert.equal(comparingFolded(sqliteSchema, [plain], { getTable, now: () => 0 }), null);
});
