import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { basicHeader } from "./serve.ts";
import { startService } from "./service-process.ts";

test("where the file is removed, replaced or put back, nothing is acknowledged that would be lost, and it is told", async () => {
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

test("where the log beside it is removed, nothing more is acknowledged, and what was is kept, also from who kills it", async (t) => {
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
