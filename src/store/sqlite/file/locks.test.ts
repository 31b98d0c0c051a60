import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import type { Collection } from "../../store.ts";
import { sqliteStore } from "../sqlite.ts";

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };

/** A thread that opens a store, writes to it, closes it if `closes` is true, and ends. */
const thread = `
  const { workerData: { module, file, notes, closes } } = require("node:worker_threads");
  void import(module).then(async ({ sqliteStore }) => {
    const store = sqliteStore({ path: file });
    await store.open([notes]);
    await store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "there" } }] });
    if (closes) await store.close();
    process.exit();
  });`;

/** Runs another process that needs exclusive access to the file, and returns its errors. */
function wantedAlone(file: string): string {
  const program = `
    const { DatabaseSync } = require("node:sqlite");
    const database = new DatabaseSync(${JSON.stringify(file)}, { timeout: 100 });
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")`;
  return spawnSync(process.execPath, ["--eval", program], { encoding: "utf8" }).stderr;
}

for (const closes of [true, false])
  test(`keeps the locks of other threads when a thread ends with a store ${closes ? "closed" : "open"}`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-threads-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, "a.db");
    await using store = { ...sqliteStore({ path: file }), [Symbol.asyncDispose]: () => store.close() };
    await store.open([notes]);
    const module = new URL("../sqlite.ts", import.meta.url).href;

    await once(new Worker(thread, { eval: true, workerData: { module, file, notes, closes } }), "exit");

    assert.match(wantedAlone(file), /database is locked/);
    const written = await store.write({
      changes: [{ kind: "insert", collection: notes, values: { text: "here" } }],
    });
    assert.equal(written.kind, "written");
    assert.equal(await store.count(notes, null), 2);
  });

test("keeps the locks of the process when another store opens the file, and when a check reads the file without its log", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-locks-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "a.db");
  await using store = { ...sqliteStore({ path: file }), [Symbol.asyncDispose]: () => store.close() };
  await store.open([notes]);
  await store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "one" } }] });

  const other = sqliteStore({ path: file });
  await other.open([notes]);
  await other.close();
  {
    using connection = new DatabaseSync(file);
    connection.exec("PRAGMA wal_checkpoint");
  }
  await store.check();

  assert.match(wantedAlone(file), /database is locked/);
});
