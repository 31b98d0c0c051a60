import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { waitForAddress } from "./taken-port.ts";

const patience = { everyMs: 5, withinMs: 100 };

async function taken() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, address: { host: "127.0.0.1", port: (server.address() as AddressInfo).port } };
}

test("reports whether a port has become free in time", async () => {
  const { server, address } = await taken();
  const isFree = await new Promise((resolve) => waitForAddress(address, resolve, patience));
  assert.equal(isFree, false);

  const freed = new Promise((resolve) => waitForAddress(address, resolve, { ...patience, withinMs: 60_000 }));
  server.close();
  assert.equal(await freed, true);
});

test("reports nothing after the wait is canceled", async () => {
  const { server, address } = await taken();
  const reports: boolean[] = [];
  const waiting = waitForAddress(address, (isFree) => void reports.push(isFree), patience);
  await new Promise((resolve) => waitForAddress(address, resolve, { everyMs: 1, withinMs: 20 }));

  waiting.drop();
  await new Promise((resolve) => waitForAddress(address, resolve, patience));

  assert.deepEqual(reports, []);
  server.close();
});
