import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { prepare, type PreparedStatement } from "../connection/connection.ts";
import { rememberedRows } from "./rows.ts";

test("reads a row once until the next commit, and again after every commit", (t) => {
  const { write, statement, countReads } = notes(t);
  write("one", 1);
  const read = rememberedRows(statement);

  assert.deepEqual([read(1, 1), read(1, 1)], [["one"], ["one"]]);
  assert.equal(countReads(), 1);
  write("two", 1);
  assert.deepEqual(read(1, 2), ["two"]);
  assert.equal(countReads(), 2);
});

test("does not cache a missing row, so that requests cannot fill the memory", (t) => {
  const { statement, countReads } = notes(t);
  const read = rememberedRows(statement);

  assert.deepEqual([read(1, 1), read(1, 1)], [undefined, undefined]);
  assert.equal(countReads(), 2);
});

test("caches no long row, and at most a thousand short rows", (t) => {
  const { write, statement, countReads } = notes(t);
  const read = rememberedRows(statement);
  write("long ".repeat(1000), 0);
  for (let id = 1; id <= 1001; id++) write("short", id);

  read(0, 1);
  read(0, 1);
  assert.equal(countReads(), 2);
  for (let id = 1; id <= 1001; id++) read(id, 1);
  const before = countReads();
  read(1001, 1);
  assert.equal(countReads(), before);
  read(1, 1);
  assert.equal(countReads(), before + 1);
});

/** Creates notes in memory, and counts their reads. */
function notes(t: TestContext) {
  const database = new DatabaseSync(":memory:", { returnArrays: true });
  t.after(() => database.close());
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)");
  const insert = prepare(database, "INSERT OR REPLACE INTO notes (text, id) VALUES (?, ?)");
  const select = prepare(database, "SELECT text FROM notes WHERE id = ?");
  let readCount = 0;
  const statement: PreparedStatement = {
    get(...parameters) {
      readCount++;
      return select.get(...parameters);
    },
    all: (...parameters) => select.all(...parameters),
    iterate: (...parameters) => select.iterate(...parameters),
    run: (...parameters) => select.run(...parameters),
  };
  return { statement, write: (text: string, id: number) => void insert.run(text, id), countReads: () => readCount };
}
