import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { command } from "../harness/command.ts";
import { basicHeader } from "../harness/serve.ts";
import { startService } from "../harness/service-process.ts";

const run = promisify(execFile);

test("refuses writes and logs the reason if the database file is deleted or replaced, and writes again if it is put back", async () => {
  await using service = await startService({ LATCHKEY_LOG: "error" });
  const { address, file, password } = service;
  const headers = { ...basicHeader("admin", password), "content-type": "application/json" };
  let made = 0;
  const write = async (): Promise<number> => {
    const body = JSON.stringify({ name: "Ann", email: `ann${made++}@example.com` });
    return (await fetch(`${address}/users`, { method: "POST", headers, body })).status;
  };
  const ready = async (): Promise<number> => (await fetch(`${address}/readyz`)).status;
  const both = async (): Promise<number[]> => [await write(), await ready()];
  const said = async (text: RegExp): Promise<void> => {
    for (let at = 0; at < 20 && !text.test(service.said()); at++) await wait(100);
    assert.match(service.said(), text);
  };
  assert.deepEqual(await both(), [201, 200]);

  renameSync(file, `${file}.away`);
  assert.deepEqual(await both(), [503, 503]);
  await said(/removed while it was in use.*latchkey db restore/);

  copyFileSync(`${file}.away`, file);
  assert.deepEqual(await both(), [503, 503]);

  rmSync(file);
  renameSync(`${file}.away`, file);
  assert.deepEqual(await both(), [201, 200]);
  rmSync(file);
  await said(/replaced by another|removed while/);
  assert.deepEqual([await write(), (await fetch(`${address}/livez`)).status], [503, 200]);
});

test("is not ready on a database of a newer program, and logs why", async () => {
  await using service = await startService({ LATCHKEY_LOG: "error" });
  using newer = new DatabaseSync(service.file, { timeout: 5000 });
  newer.exec("UPDATE latchkey_version SET version = version + 1");

  const { status } = await fetch(`${service.address}/readyz`);

  assert.equal(status, 503);
  assert.match(service.said(), /schema version \d+, but this program knows \d+\. Run the newer program/);
});

test("refuses writes after the write-ahead log is deleted, and keeps all acknowledged writes even if the process is killed", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-log-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "latchkey.db");
  await using service = await startService({ LATCHKEY_LOG: "error", LATCHKEY_DATABASE: `sqlite:${file}` });
  const headers = { ...basicHeader("admin", service.password), "content-type": "application/json" };
  const write = async (name: string): Promise<number> => {
    const body = JSON.stringify({ name, email: `${name}@example.com` });
    return (await fetch(`${service.address}/users`, { method: "POST", headers, body })).status;
  };
  assert.equal(await write("kept"), 201);

  rmSync(`${file}-wal`);
  for (let at = 0; at < 50 && !service.said().includes("-wal was removed"); at++) await wait(100);
  const after = [await write("refused"), (await fetch(`${service.address}/readyz`)).status];
  process.kill(service.pid, "SIGKILL");
  await service.ended;
  const database = new DatabaseSync(file, { readOnly: true });
  const names = database.prepare("SELECT name FROM users ORDER BY id").all();
  database.close();

  assert.deepEqual(after, [503, 503]);
  assert.match(service.said(), /latchkey\.db-wal was removed while it was in use.*latchkey db check/);
  assert.deepEqual(
    names.map(({ name }) => name),
    ["Administrator", "kept"],
  );
});

test("resolves a link to the database, whether its target exists yet or not", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-link-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const link = path.join(folder, "latchkey.db");
  const file = path.join(folder, "disk", "kept.db");
  mkdirSync(path.dirname(file));
  symlinkSync(path.join("disk", "kept.db"), link);
  const settings = { LATCHKEY_DATABASE: `sqlite:${link}`, LATCHKEY_ADMIN_PASSWORD: "of this test alone" };
  const env = { ...process.env, ...settings };
  const headers = {
    ...basicHeader("admin", settings.LATCHKEY_ADMIN_PASSWORD),
    "content-type": "application/json",
  };
  async function runService(during: (write: (name: string) => Promise<number>) => Promise<void>): Promise<string> {
    await using service = await startService({ ...settings, LATCHKEY_LOG: "error" });
    await during(async (name) => {
      const body = JSON.stringify({ name, email: `${name}@example.com` });
      return (await fetch(`${service.address}/users`, { method: "POST", headers, body })).status;
    });
    const metrics = await (await fetch(`${service.address}/metrics`, { headers })).text();
    assert.match(metrics, /^latchkey_sqlite_wal_bytes [1-9]/m);
    return service.said();
  }

  await runService(async (write) => assert.equal(await write("first"), 201));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await run(process.execPath, [command, "db", "backup", path.join(folder, "backup.db")], { env });
  const said = await runService(async (write) => {
    assert.equal(await write("second"), 201);
    renameSync(file, `${file}.away`);
    assert.equal(await write("refused"), 503);
    renameSync(`${file}.away`, file);
    assert.equal(await write("third"), 201);
  });
  await run(process.execPath, [command, "db", "restore", path.join(folder, "backup.db")], { env });
  const database = new DatabaseSync(file, { readOnly: true });
  const { rows } = database.prepare("SELECT count(*) AS rows FROM users").get()!;
  database.close();

  assert.match(said, /kept\.db was removed while it was in use/);
  assert.equal(lstatSync(link).isSymbolicLink(), true);
  assert.equal(rows, 2);
});

/** Overwrites the write-ahead log in place. `older` is the content of the log before the last writes. */
const overwritingTheLog: Readonly<Record<string, (log: string, older: Buffer) => void>> = {
  nothing: (log) => truncateSync(log),
  "an older copy of the log": (log, older) => writeFileSync(log, older),
  "other data": (log) => writeFileSync(log, "gone ".repeat(100_000)),
};

for (const [what, overwrite] of Object.entries(overwritingTheLog))
  test(`refuses writes in every process if the write-ahead log is overwritten with ${what}, and keeps the database intact`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-log-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, "latchkey.db");
    const settings = { LATCHKEY_LOG: "error", LATCHKEY_DATABASE: `sqlite:${file}`, LATCHKEY_WORKERS: "2" };
    await using service = await startService(settings);
    const headers = { ...basicHeader("admin", service.password), "content-type": "application/json" };
    let made = 0;
    const write = async (): Promise<number> => {
      const name = `n${made++}`;
      const body = JSON.stringify({ name, email: `${name}@example.com` });
      return (await fetch(`${service.address}/users`, { method: "POST", headers, body })).status;
    };
    for (let at = 0; at < 20; at++) assert.equal(await write(), 201);
    await moveLog(file);
    const older = readFileSync(`${file}-wal`);
    for (let at = 0; at < 5; at++) assert.equal(await write(), 201);

    // Waits until no checkpoint runs. If the log is overwritten during a checkpoint, the wrong content gets into the
    // file, and no check can prevent that.
    await wait(700);
    overwrite(`${file}-wal`, older);
    const after = new Set<number>();
    // Enough writes to cause a checkpoint if the service accepted them.
    for (let at = 0; at < 100; at++) after.add(await write());
    /** Sends enough concurrent requests that every process receives some. Returns the different statuses. */
    const ask = async (path: string): Promise<number[]> => {
      const answers = await Promise.all(Array.from({ length: 16 }, () => fetch(service.address + path, { headers })));
      return [...new Set(answers.map(({ status }) => status))];
    };
    let ready = await ask("/readyz");
    let read = await ask("/users/1");
    // Each process checks the log about every second. On a busy machine, a check can take longer.
    for (let at = 0; at < 50 && (ready.includes(200) || read.includes(200)); at++) {
      await wait(100);
      ready = await ask("/readyz");
      read = await ask("/users/1");
    }
    const live = await ask("/livez");
    process.kill(service.pid, "SIGTERM");
    await service.ended;
    // The service's message advises to move the log away.
    rmSync(`${file}-wal`);
    const database = new DatabaseSync(file, { readOnly: true });
    const { integrity_check: integrity } = database.prepare("PRAGMA integrity_check").get()!;
    const { rows } = database.prepare("SELECT count(*) AS rows FROM users").get()!;
    database.close();

    assert.deepEqual([...after], [503]);
    assert.deepEqual([ready, read, live], [[503], [503], [200]]);
    assert.match(
      service.said(),
      /latchkey\.db-wal was overwritten while it was in use.*move \S+-wal away.*latchkey db check/,
    );
    assert.deepEqual([integrity, Number(rows) >= 21], ["ok", true]);
  });

/** Changes that are only in the write-ahead log. They change some rows, or the first page, which every read needs. */
const inTheLog = { rows: "UPDATE users SET name = 'Ada'", "a new table": "CREATE TABLE made_by_others (id INTEGER)" };

for (const [what, sql] of Object.entries(inTheLog))
  test(`ends a start with 78 and names the fix if the write-ahead log was overwritten while another process uses it: ${what}`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-log-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, "latchkey.db");
    const settings = { LATCHKEY_LOG: "error", LATCHKEY_DATABASE: `sqlite:${file}`, LATCHKEY_PORT: "0" };
    await using _ = await startService(settings);
    await moveLog(file);
    {
      using others = new DatabaseSync(file, { timeout: 5000 });
      others.exec(sql);
    }
    truncateSync(`${file}-wal`);

    const started = spawnSync(process.execPath, [command], {
      env: { ...process.env, ...settings },
      encoding: "utf8",
      timeout: 20_000,
    });

    assert.match(started.stderr, /latchkey\.db-wal was overwritten while it was in use.*move \S+-wal away/);
    assert.equal(started.status, 78, started.stderr);
  });

/** Moves the whole write-ahead log into the file. Tries again while a reader uses the log. */
async function moveLog(file: string): Promise<void> {
  using connection = new DatabaseSync(file, { timeout: 5000 });
  const move = connection.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  for (let at = 0; at < 100; at++) {
    // Both values are -1 if the service is moving the log at the same time.
    const { log, checkpointed } = move.get()!;
    if (log !== -1 && log === checkpointed) return;
    await wait(20);
  }
  assert.fail("No checkpoint moved the whole log into the file.");
}

/** Overwrites a file in place. `copy` is a backup and `copy.raw` is a copy of the file itself. */
const overwriting: Readonly<Record<string, (file: string, copy: string) => void>> = {
  "its own backup": (file, copy) => copyFileSync(copy, file),
  "an older copy of the file itself": (file, copy) => copyFileSync(`${copy}.raw`, file),
  nothing: (file) => truncateSync(file),
  "its first 40 KiB": (file) => truncateSync(file, 40_960),
  "other data": (file) => writeFileSync(file, "gone ".repeat(100_000)),
};

for (const [what, overwrite] of Object.entries(overwriting))
  test(`reports within a second that the file is overwritten with ${what}, and serves no data from the file`, async (t) => {
    await using running = await serviceToOverwrite(t, what.startsWith("its own") ? "2" : "1");
    const { service, file, copy, write } = running;

    overwrite(file, copy);
    await wait(1000);
    const answers = [
      await write("refused"),
      (await fetch(`${service.address}/readyz`)).status,
      (await fetch(`${service.address}/users/1`, { headers: basicHeader("admin", service.password) })).status,
      (await fetch(`${service.address}/livez`)).status,
    ];

    assert.deepEqual(answers, [503, 503, 503, 200]);
    assert.match(service.said(), /latchkey\.db was overwritten while it was in use.*latchkey db restore/);
  });

test("writes nothing into a backup that was copied over the file, at shutdown and startup, and lets `db restore` restore it", async (t) => {
  await using running = await serviceToOverwrite(t, "1");
  const { service, file, copy, settings, write } = running;
  copyFileSync(copy, file);
  await wait(1000);
  process.kill(service.pid, "SIGTERM");
  await service.ended;
  assert.ok(readFileSync(file).equals(readFileSync(copy)));

  const started = spawnSync(process.execPath, [command], {
    env: { ...process.env, ...settings, LATCHKEY_PORT: "0" },
    encoding: "utf8",
  });
  assert.equal(started.status, 78);
  assert.match(started.stderr, /latchkey\.db was overwritten, and \S+latchkey\.db-wal holds.*latchkey db restore/);
  assert.ok(readFileSync(file).equals(readFileSync(copy)));

  await run(process.execPath, [command, "db", "restore", copy], { env: { ...process.env, ...settings } });
  await using again = await startService(settings);
  assert.equal(await write("after", again.address), 201);
});

/**
 * Starts a service, makes a backup and a raw copy of its file, and then writes more. So both copies are older than the
 * file.
 */
async function serviceToOverwrite(t: TestContext, workers: string) {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-overwritten-"));
  const file = path.join(folder, "latchkey.db");
  const settings = {
    LATCHKEY_LOG: "error",
    LATCHKEY_DATABASE: `sqlite:${file}`,
    LATCHKEY_SECRET: "of this test, and long enough for it",
    LATCHKEY_ADMIN_PASSWORD: "of this test alone",
  };
  const service = await startService({ ...settings, LATCHKEY_WORKERS: workers });
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const headers = { ...basicHeader("admin", settings.LATCHKEY_ADMIN_PASSWORD), "content-type": "application/json" };
  const write = async (name: string, address = service.address): Promise<number> => {
    const body = JSON.stringify({ name, email: `${name}@example.com` });
    return (await fetch(`${address}/users`, { method: "POST", headers, body })).status;
  };
  const copy = path.join(folder, "backup.db");
  assert.equal(await write("before"), 201);
  await run(process.execPath, [command, "db", "backup", copy], { env: { ...process.env, ...settings } });
  copyFileSync(file, `${copy}.raw`);
  const made = await Promise.all(Array.from({ length: 60 }, (_, at) => write(`made${at}`)));
  assert.deepEqual([...new Set(made)], [201]);
  const connection = new DatabaseSync(file, { timeout: 5000 });
  connection.exec("PRAGMA wal_checkpoint(PASSIVE)");
  connection.close();
  // Waits until the service has seen this state of the file, because it reports only changes to a state that it has
  // seen.
  await wait(600);
  return {
    service: { ...service, password: settings.LATCHKEY_ADMIN_PASSWORD },
    file,
    copy,
    settings,
    write,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
