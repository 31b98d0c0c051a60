import assert from "node:assert/strict";
import { copyFileSync, renameSync, rmSync } from "node:fs";
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
