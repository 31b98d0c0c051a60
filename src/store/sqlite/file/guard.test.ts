import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import type { Collection, Store } from "../../store.ts";
import { connect, connectReadOnly } from "../connection/connection.ts";
import { sqliteStore } from "../sqlite.ts";
import { moveLog } from "../writes/checkpointer.ts";
import { createGuard, type Guard } from "./guard.ts";
import { createLogChecks } from "./log.ts";
import { filesAt } from "./place.ts";

/** The duration of the checks while other processes write, in milliseconds. */
const lookedMs = Number(process.env["LOOKED_SECONDS"] ?? 2) * 1000;

/** Writes, runs each kind of checkpoint, and vacuums, as fast as possible. */
const busy = `
  import { DatabaseSync } from "node:sqlite";
  const [file, number] = process.argv.slice(1);
  const database = new DatabaseSync(file, { timeout: 10000 });
  database.exec("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = " + (Number(number) * 7));
  const insert = database.prepare("INSERT INTO notes (text) VALUES (hex(randomblob(?)))");
  for (let at = 0; ; at++) {
    try {
      database.exec("BEGIN IMMEDIATE");
      for (let row = 0; row < at % 13; row++) insert.run((at * 37) % 3000);
      database.exec("UPDATE latchkey_revision SET revision = revision + 1");
      if (at % 50 === 0) database.exec("CREATE TABLE made" + number + " (n); DROP TABLE made" + number);
      if (at % 17 === 0) database.exec("DELETE FROM notes WHERE id % 5 = " + (at % 5));
      database.exec(at % 11 === 0 ? "ROLLBACK" : "COMMIT");
      const ways = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"];
      if (at % 9 === 0) database.exec("PRAGMA wal_checkpoint(" + ways[(at / 9) % 4] + ")");
      if (at % 400 === 0) database.exec("VACUUM");
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      if (!/locked|busy/.test(error.message)) throw error;
    }
  }`;

const notes: Collection = { name: "notes", key: "integer", columns: [{ name: "text", type: "text" }] };

interface Guarding {
  readonly pageBytes?: number;
  /** Default: a clock that `look` advances. */
  readonly clock?: () => number;
}

interface Guarded {
  readonly file: string;
  readonly guard: Guard;
  /** Writes a row, like a store does. */
  written(): void;
  /** Checks twice. The time between both checks is long enough to confirm a wrong state. */
  look(): void;
}

function guarded(t: TestContext, { pageBytes = 4096, clock }: Guarding = {}): Guarded {
  let now = 0;
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-guard-"));
  const file = path.join(folder, "a.db");
  const writes = connect(file);
  writes.exec(`PRAGMA page_size = ${pageBytes}`);
  writes.exec("PRAGMA journal_mode = WAL; CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)");
  writes.exec("CREATE TABLE latchkey_revision (revision INTEGER); INSERT INTO latchkey_revision VALUES (0)");
  writes.exec("PRAGMA wal_checkpoint(PASSIVE)");
  const reads = connectReadOnly(file);
  reads.prepare("SELECT count(*) FROM notes").get();
  const guard = createGuard({ path: file, files: filesAt(file) }, reads, clock ?? (() => now));
  t.after(() => {
    reads.close();
    writes.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    file,
    guard,
    written: () =>
      writes.exec("INSERT INTO notes (text) VALUES ('one'); UPDATE latchkey_revision SET revision = revision + 1"),
    look() {
      guard.look();
      now += 200;
      guard.look();
    },
  };
}

test("reports no overwritten file while several processes write through SQLite, run checkpoints and are killed", async (t) => {
  const { file, guard } = guarded(t, { clock: () => performance.now() });
  const start = (number: number) => {
    const args = ["--input-type=module", "--eval", busy, file, String(number)];
    const other = spawn(process.execPath, args, { stdio: "inherit" });
    t.after(() => other.kill("SIGKILL"));
    return other;
  };
  let others = [start(1), start(2)];
  const begun = performance.now();
  for (let at = 1; performance.now() - begun < lookedMs; at++) {
    guard.look();
    if (at % 20_000 !== 0) continue;
    const [first, ...rest] = others;
    first!.kill("SIGKILL");
    await once(first!, "exit");
    others = [...rest, start((at / 20_000) % 7)];
    utimesSync(file, new Date(), new Date());
  }
  assert.equal(guard.found, null);
  for (const other of others) other.kill("SIGKILL");
  await Promise.all(others.map((other) => once(other, "exit")));
});

test("reports an older copy of the file after a second check, and again at every later check", (t) => {
  const { file, guard, written, look } = guarded(t);
  look();
  copyFileSync(file, `${file}.copy`);
  written();
  const connection = connect(file);
  t.after(() => connection.close());
  connection.exec("PRAGMA wal_checkpoint");
  look();

  copyFileSync(`${file}.copy`, file);

  guard.look();
  assert.deepEqual([guard.found, guard.isSuspect], [null, true]);
  assert.throws(look, /a\.db was overwritten while it was in use/);
  assert.throws(() => guard.look(), /overwritten/);
  assert.match(String(guard.found), /overwritten/);
});

test("accepts the file if it is correct again before the second check", (t) => {
  const { file, guard, written, look } = guarded(t);
  written();
  const connection = connect(file);
  t.after(() => connection.close());
  connection.exec("PRAGMA wal_checkpoint");
  look();
  const right = readFileSync(file);
  truncateSync(file, 4096);
  guard.look();
  assert.equal(guard.isSuspect, true);

  writeFileSync(file, right);
  look();

  assert.deepEqual([guard.found, guard.isSuspect], [null, false]);
});

test("moves no log into an older copy of the file, because the pages of the log would hide its age", (t) => {
  const { file, guard, written, look } = guarded(t);
  copyFileSync(file, `${file}.copy`);
  written();
  const connection = connect(file);
  t.after(() => connection.close());
  connection.exec("PRAGMA wal_checkpoint");
  look();
  const opened = { path: file, files: filesAt(file), content: guard.content };
  written();
  copyFileSync(`${file}.copy`, file);

  const moved = moveLog(opened, guard.content, createLogChecks(file, opened.files));

  assert.equal(moved, null);
  assert.ok(readFileSync(file).equals(readFileSync(`${file}.copy`)));
});

test("detects a valid older copy of the log, and moves no page of it into the file", (t) => {
  const { file, guard, written, look } = guarded(t);
  for (let at = 0; at < 20; at++) written();
  const connection = connect(file);
  t.after(() => connection.close());
  connection.exec("PRAGMA wal_checkpoint");
  const older = readFileSync(`${file}-wal`);
  for (let at = 0; at < 5; at++) written();
  look();
  const before = readFileSync(file);
  const opened = { path: file, files: filesAt(file), content: guard.content };

  writeFileSync(`${file}-wal`, older);

  assert.equal(moveLog(opened, guard.content, createLogChecks(file, opened.files)), null);
  assert.ok(readFileSync(file).equals(before));
  assert.throws(() => look(), /a\.db-wal was overwritten while it was in use \(it is an older copy\)/);
});

test("reports a log that was cut off after a part of it was moved into the file", (t) => {
  const { file, written, look } = guarded(t);
  for (let at = 0; at < 20; at++) written();
  const reads = connectReadOnly(file);
  reads.exec("BEGIN; SELECT count(*) FROM notes");
  written();
  look();
  const connection = connect(file);
  connection.exec("PRAGMA wal_checkpoint(PASSIVE)");
  connection.close();
  reads.close();
  truncateSync(`${file}-wal`);

  assert.throws(() => look(), /a\.db-wal was overwritten while it was in use/);
});

for (const [what, overwrite] of Object.entries<(log: string, older: Buffer) => void>({
  "an older copy replaced the log": (log, older) => writeFileSync(log, older),
  "the log was cut off": (log, older) => truncateSync(log, older.length),
}))
  test(`detects that SQLite wrote to the log after a hole, because ${what}`, (t) => {
    const { file, written, look } = guarded(t);
    for (let at = 0; at < 5; at++) written();
    const older = readFileSync(`${file}-wal`);
    for (let at = 0; at < 5; at++) written();
    look();

    overwrite(`${file}-wal`, older);
    written();

    assert.throws(() => look(), /a\.db-wal was overwritten while it was in use/);
  });

test("detects a write after a hole in the log if the lost pages were written after the last check", (t) => {
  const { file, written, look } = guarded(t);
  for (let at = 0; at < 3; at++) written();
  look();
  for (let at = 0; at < 3; at++) written();
  const { length } = readFileSync(`${file}-wal`);
  for (let at = 0; at < 3; at++) written();

  truncateSync(`${file}-wal`, length);
  for (let at = 0; at < 3; at++) written();

  assert.throws(() => look(), /a\.db-wal was overwritten while it was in use \(pages of it are missing\)/);
});

for (const [what, overwrite] of Object.entries<(log: string, length: number, connection: DatabaseSync) => void>({
  "a log that was cut off": (log) => truncateSync(log),
  "a hole in the log before pages of another connection": (log, length, connection) => {
    truncateSync(log, length);
    connection.exec("INSERT INTO others VALUES ('behind')");
  },
}))
  test(`reports ${what} at the next write of each store, and at its later reads and checks`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-guard-"));
    const file = path.join(folder, "a.db");
    const stores = [sqliteStore({ path: file }), sqliteStore({ path: file })] as const;
    for (const store of stores) await store.open([notes]);
    const connection = connect(file);
    t.after(async () => {
      connection.close();
      for (const store of stores) await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const write = (store: Store): Promise<unknown> =>
      store.write({ changes: [{ kind: "insert", collection: notes, values: { text: "one" } }] });
    connection.exec("CREATE TABLE others (text)");
    for (const store of stores) await write(store);
    connection.exec("INSERT INTO others VALUES ('before')");
    const { length } = readFileSync(`${file}-wal`);
    for (let at = 0; at < 3; at++) connection.exec("INSERT INTO others VALUES ('gone')");

    overwrite(`${file}-wal`, length, connection);

    for (const store of stores) {
      await assert.rejects(write(store), /a\.db-wal was overwritten while it was in use/);
      await assert.rejects(async () => store.count(notes, null), /a\.db-wal was overwritten while it was in use/);
      await assert.rejects(store.check(), /a\.db-wal was overwritten while it was in use/);
    }
  });

test("checks in less than 0.2 s after a VACUUM that leaves a small file and a large log", (t) => {
  const { file, look } = guarded(t, { pageBytes: 512 });
  look();
  const connection = connect(file);
  t.after(() => connection.close());
  connection.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF");
  const rows =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT randomblob(400) FROM n";
  connection.exec(`INSERT INTO notes (text) ${rows}`);
  connection.exec("DELETE FROM notes WHERE id > 10; VACUUM; PRAGMA wal_checkpoint(PASSIVE)");

  const before = process.cpuUsage();
  look();
  const { user, system } = process.cpuUsage(before);

  assert.ok(user + system < 200_000, `${(user + system) / 1000} ms`);
});
