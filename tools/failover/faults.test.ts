import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { makeLedger } from "../../tests/harness/ledger.ts";
import {
  postgresServers,
  formatURL,
  type PostgresServer,
  type PostgresServers,
} from "../../tests/harness/postgres-server.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";

// All tests use one service. They stop its database in different ways, one after another.
const password = "outlives its database";
const ledger = makeLedger(password);
let servers: PostgresServers;
let server: PostgresServer;
let service: ServiceProcess;

before(async () => {
  servers = await postgresServers();
  server = await servers.primary();
  service = await startService({
    LATCHKEY_DATABASE: formatURL(server),
    LATCHKEY_SECRET: "known to every process of it, at any time",
    LATCHKEY_ADMIN_PASSWORD: password,
    LATCHKEY_ACCESS_SECONDS: "3600",
  });
});

after(async () => {
  await service[Symbol.asyncDispose]();
  await servers[Symbol.asyncDispose]();
});

for (const [how, end] of [
  ["is stopped", () => server.stop()],
  ["is killed", () => server.kill()],
] as const) {
  test(`answers 503 with Retry-After while a server ${how} and started again under load, and loses no acknowledged write`, async (t) => {
    const load = ledger.load(service);
    await load.begun;

    await end();
    const [live, ready] = [await ask("/livez"), await ask("/readyz")];
    await server.start();
    const back = performance.now();
    const recoveredMs = (await load.nextWrite()) - back;
    await load.stop();

    assert.equal(live.status, 200);
    assert.equal(ready.status, 503);
    assert.equal(ready.headers.get("retry-after"), "1");
    assert.ok(recoveredMs < 5000, `${recoveredMs} ms`);
    assert.equal((await ask("/readyz")).status, 200);
    await ledger.settle(service);
    await ledger.verify(service);
    t.diagnostic(`written again ${Math.round(recoveredMs)} ms after the server was back; ${ledger.summary()}`);
  });
}

test("waits at most 5 seconds for a server that hangs, and refuses access tokens when it can no longer read revocations", async (t) => {
  const headers = { authorization: `Bearer ${await accessToken()}` };
  const load = ledger.load(service);
  await load.begun;
  // Sends the token before the server hangs, because a process reads the account from the database when it first sees a
  // token.
  await ask("/metrics", headers);

  server.freeze();
  const frozen = performance.now();
  const underway = timed("/users/1", headers);
  const ready = timed("/readyz");
  // `/metrics` reads nothing from the database, so it still answers. But the service must refuse an access token when
  // its revocation may be unknown for too long.
  const without = await ask("/metrics", headers);
  const answers = await Promise.all([underway, ready]);
  const live = await ask("/livez");
  let token = await ask("/metrics", headers);
  while (token.status !== 503) {
    await wait(50);
    token = await ask("/metrics", headers);
  }
  const refusedMs = performance.now() - frozen;
  server.thaw();
  const back = performance.now();
  while ((await ask("/metrics", headers)).status !== 200) await wait(20);
  const trustedMs = performance.now() - back;
  const recoveredMs = (await load.nextWrite()) - back;
  await load.stop();

  assert.equal(without.status, 200);
  for (const { status, retryAfter, ms } of answers) {
    assert.equal(status, 503);
    assert.equal(retryAfter, "1");
    assert.ok(ms < 5500, `${ms} ms`);
  }
  assert.equal(live.status, 200);
  assert.match(await token.text(), /revoked/);
  assert.equal(token.headers.get("retry-after"), "1");
  assert.ok(refusedMs < 6500, `${refusedMs} ms`);
  assert.ok(trustedMs < 5000 && recoveredMs < 5000, `${trustedMs} ms, ${recoveredMs} ms`);
  await ledger.settle(service);
  await ledger.verify(service);
  t.diagnostic(
    `answered after ${answers.map(({ ms }) => Math.round(ms)).join(" and ")} ms, tokens refused after ${Math.round(refusedMs)} ms; ` +
      `accepted ${Math.round(trustedMs)} ms and written ${Math.round(recoveredMs)} ms after the return`,
  );
});

test("stops a process while its database hangs", async () => {
  const other = await startService({
    LATCHKEY_DATABASE: formatURL(server),
    LATCHKEY_SECRET: "known to every process of it, at any time",
  });
  server.freeze();

  const start = performance.now();
  process.kill(other.pid, "SIGTERM");
  await other[Symbol.asyncDispose]();
  server.thaw();

  assert.ok(performance.now() - start < 5000);
});

function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(service.address + path, { headers });
}

async function timed(path: string, headers?: Readonly<Record<string, string>>) {
  const start = performance.now();
  const response = await ask(path, headers);
  return { status: response.status, retryAfter: response.headers.get("retry-after"), ms: performance.now() - start };
}

async function accessToken(): Promise<string> {
  const response = await fetch(`${service.address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  return ((await response.json()) as { access: string }).access;
}
