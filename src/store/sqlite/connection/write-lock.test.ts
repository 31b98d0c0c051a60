import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { startTogether, waitForOthers } from "../../../../tests/harness/start-together.ts";
import { prepareFile } from "../schema.ts";
import { connect, prepare } from "./connection.ts";

/** Writes as fast as possible for some seconds. All processes start at the same time. */
const busy = `
  import { connect } from ${JSON.stringify(new URL("./connection.ts", import.meta.url).href)};
  import { makeWriteLock } from ${JSON.stringify(new URL("./write-lock.ts", import.meta.url).href)};
  const [file, who] = process.argv.slice(1);
  const database = connect(file, 0);
  const turns = makeWriteLock(database, 20000);
  const insert = database.prepare("INSERT INTO t VALUES (?, ?)");
  ${waitForOthers}
  while (Date.now() < at + 3000) {
    turns.begin();
    insert.run(who, Date.now());
    database.exec("COMMIT");
    turns.ended();
  }
  database.close();`;

test("lets every process write at least a fifth as often as the fastest process", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-turns-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "a.db");
  const database = connect(file);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (who TEXT, at INTEGER)");

  const writers = ["one", "two", "three"].map((who) =>
    spawn(process.execPath, ["--input-type=module", "--eval", busy, file, who], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    }),
  );
  await startTogether(writers);
  await Promise.all(writers.map((each) => once(each, "exit")));

  const shares = database
    .prepare(
      "SELECT count(*), max(gap) FROM (SELECT who, at - lag(at) OVER (PARTITION BY who ORDER BY at) AS gap FROM t) GROUP BY who",
    )
    .all() as unknown as [number, number][];
  database.close();
  t.diagnostic(JSON.stringify(shares));
  const rows = shares.map(([count]) => count);
  assert.equal(rows.length, 3);
  assert.ok(Math.min(...rows) > Math.max(...rows) / 5, String(rows));
});

/** Writes all the time, and each write is long. The file is unlocked only for a moment in between. */
const hardlyEverFree = `
  import { connect } from ${JSON.stringify(new URL("./connection.ts", import.meta.url).href)};
  const database = connect(process.argv[1]);
  const moment = new Int32Array(new SharedArrayBuffer(4));
  for (let at = 0; ; at++) {
    database.exec("BEGIN IMMEDIATE; INSERT INTO t VALUES ('other', 0)");
    if (at === 0) process.stdout.write("writes");
    Atomics.wait(moment, 0, 0, 40);
    database.exec("COMMIT");
    const freeUntil = performance.now() + 0.5;
    while (performance.now() < freeUntil);
  }`;

test("starts and changes tables while another process writes all the time", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-turns-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "a.db");
  const database = connect(file);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (who TEXT, at INTEGER)");
  t.after(() => database.close());
  const other = spawn(process.execPath, ["--input-type=module", "--eval", hardlyEverFree, file]);
  t.after(() => other.kill("SIGKILL"));
  await once(other.stdout, "data");

  for (const name of ["one", "two", "three", "four"]) prepareFile(file, [{ name, key: "integer", columns: [] }]);

  assert.deepEqual(prepare(database, "SELECT count(*) FROM latchkey_schema").get(), [4]);
});
