import assert from "node:assert/strict";
import { cpSync, mkdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { isSound, logIn, makeLedger, password, readAllTheWhile } from "../../tests/harness/disk-ledger.ts";
import { type ServiceProcess, startService } from "../../tests/harness/service-process.ts";
import { makeFaultyDisk, type FaultyDisk } from "./faults.ts";

const clients = 64;

function start(disk: FaultyDisk): Promise<ServiceProcess> {
  return startService({
    ...disk.environment,
    LATCHKEY_DATABASE: `sqlite:${disk.folder}/latchkey.db`,
    LATCHKEY_ADMIN_PASSWORD: password,
  });
}

const refusals = {
  EIO: { status: 503, code: "unavailable", type: "application/problem+json", retryAfter: "1" },
  ENOSPC: { status: 507, code: "insufficient_storage", type: "application/problem+json", retryAfter: "30" },
};

for (const [call, error] of [
  ["write", "EIO"],
  ["write", "ENOSPC"],
  ["sync", "EIO"],
] as const) {
  test(`acknowledges no request whose ${call} fails with ${error}, and continues when the disk works again`, async () => {
    using disk = makeFaultyDisk();
    const ledger = makeLedger();
    {
      await using service = await start(disk);
      const reading = readAllTheWhile(service, await logIn(service));
      for (let time = 0; time < 3; time++) {
        await ledger.writeUntilRefused(service, clients, { acknowledged: 200, call: () => disk.fail(call, error) });
        await ledger.retry(service);
        await ledger.holds(service);
        disk.heal();
        assert.deepEqual(new Set(await ledger.retry(service)), new Set([201]));
      }

      assert.deepEqual(await reading.stop(), new Set([200]));
      assert.equal(ledger.refusals.length, 6 * clients);
      for (const refusal of ledger.refusals) assert.deepEqual(refusal, refusals[error]);
      assert.ok(disk.failed() > 0);
      await ledger.holds(service);
      process.kill(service.pid, "SIGKILL");
    }

    await using service = await start(disk);
    await ledger.holds(service);
    assert.equal(ledger.entries.filter(({ acknowledged }) => acknowledged === null).length, 0);
    isSound(`${disk.folder}/latchkey.db`);
  });
}

test("stores a refused write completely or not at all if killed after a failed sync, and stores the retry only once", async () => {
  using disk = makeFaultyDisk();
  const ledger = makeLedger();
  {
    await using service = await start(disk);
    await ledger.writeUntilRefused(service, clients, { acknowledged: 200, call: () => disk.fail("sync", "EIO") });
    process.kill(service.pid, "SIGKILL");
  }
  disk.heal();

  await using service = await start(disk);
  await ledger.holds(service);
  isSound(`${disk.folder}/latchkey.db`);
  assert.deepEqual(new Set(await ledger.retry(service)), new Set([201]));
  await ledger.holds(service);
});

test("acknowledges no write with a failed sync, and keeps the next write even if the service is then killed", async () => {
  using disk = makeFaultyDisk();
  const [refused, next] = [makeLedger(), makeLedger()];
  {
    await using service = await start(disk);
    disk.fail("sync", "EIO");
    await refused.writeUntilRefused(service, clients);
    disk.heal();
    await next.writeUntilRefused(service, 1, { acknowledged: 1, call: () => disk.fail("write", "EIO") });
    process.kill(service.pid, "SIGKILL");
  }
  disk.heal();

  await using service = await start(disk);
  assert.deepEqual(
    refused.entries.filter(({ acknowledged }) => acknowledged !== null),
    [],
  );
  assert.equal(next.entries.filter(({ acknowledged }) => acknowledged !== null).length, 1);
  await next.holds(service);
});

test("answers 503 while the disk fails to read, and succeeds when the disk works again", async () => {
  using disk = makeFaultyDisk();
  await using service = await start(disk);
  const bearer = await logIn(service);
  const basic = { authorization: `Basic ${Buffer.from(`admin:${password}`).toString("base64")}` };
  const targets = ["/users/1", "/users?limit=1000", "/protected/", "/users/1/sessions", "/readyz"];

  for (let time = 0; time < 3; time++) {
    for (const headers of [bearer, basic]) {
      // A connection that reads has not cached the pages that another connection wrote. So the requests below must read
      // from the disk.
      const user = { name: "Ada", email: `ada${time}@${headers === basic ? "basic" : "bearer"}.example` };
      const made = await fetch(`${service.address}/users`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(user),
      });
      assert.equal(made.status, 201);
      disk.fail("read", "EIO");
      const failing = await Promise.all(targets.map((target) => fetch(service.address + target, { headers })));
      assert.deepEqual(
        await Promise.all(failing.map(readFailure)),
        Array(targets.length).fill([503, "unavailable", "1"]),
      );
      assert.equal((await fetch(`${service.address}/livez`)).status, 200);
      disk.heal();
      for (const target of targets) assert.equal((await fetch(service.address + target, { headers })).status, 200);
    }
  }
});

async function readFailure(response: Response): Promise<unknown[]> {
  const { code } = (await response.json()) as { code: string };
  return [response.status, code, response.headers.get("retry-after")];
}

test("acknowledges no write before it is synced", async () => {
  using disk = makeFaultyDisk();
  await using service = await start(disk);
  const headers = { ...(await logIn(service)), "content-type": "application/json" };
  disk.slow(400);
  const startedAt = performance.now();

  const reply = await fetch(`${service.address}/users`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "Ada", email: "ada@example.com" }),
  });

  assert.equal(reply.status, 201);
  assert.ok(performance.now() - startedAt >= 400);
});

test("keeps every acknowledged write after a power cut, which leaves only the synced content", async () => {
  using disk = makeFaultyDisk({ keep: true });
  const ledger = makeLedger();
  {
    await using service = await start(disk);
    const kill = (): void => void process.kill(service.pid, "SIGKILL");
    await ledger.writeUntilRefused(service, clients, { acknowledged: 1000, call: kill }).catch(() => undefined);
  }
  const acknowledged = ledger.entries.filter((entry) => entry.acknowledged !== null).length;
  assert.ok(acknowledged > clients, `${acknowledged} writes`);

  const after = path.join(disk.folder, "after");
  mkdirSync(after);
  cpSync(disk.syncedFolder, after, { recursive: true });
  cpSync(path.join(disk.folder, "latchkey.secret"), path.join(after, "latchkey.secret"));
  await using service = await startService({
    LATCHKEY_DATABASE: `sqlite:${after}/latchkey.db`,
    LATCHKEY_ADMIN_PASSWORD: password,
  });
  await ledger.holds(service);
  isSound(path.join(after, "latchkey.db"));
  assert.deepEqual(new Set(await ledger.retry(service)), new Set([201]));
  await ledger.holds(service);
});
