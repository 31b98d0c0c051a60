import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { isSound, logIn, makeLedger, password, readAllTheWhile } from "../../tests/harness/disk-ledger.ts";
import { type ServiceProcess, startService } from "../../tests/harness/service-process.ts";
import { mountSmallDisk, type SmallDisk } from "./small-disk.ts";

const clients = 64;
const ballastBytes = 2 << 20;

function start({ folder }: SmallDisk): Promise<ServiceProcess> {
  return startService({ LATCHKEY_DATABASE: `sqlite:${folder}/latchkey.db`, LATCHKEY_ADMIN_PASSWORD: password });
}

for (const mebibytes of [4, 8]) {
  test(`answers 507 on a full disk of ${mebibytes} MiB while 64 clients write, still reads, and uses new room without a restart`, async () => {
    using disk = mountSmallDisk(mebibytes);
    disk.fill(ballastBytes);
    const ledger = makeLedger();
    {
      await using service = await start(disk);
      const reading = readAllTheWhile(service, await logIn(service));
      await ledger.writeUntilRefused(service, clients);

      assert.deepEqual(await reading.stop(), new Set([200]));
      const refusal = { status: 507, code: "insufficient_storage", type: "application/problem+json", retryAfter: "30" };
      assert.deepEqual(
        ledger.refusals,
        Array.from({ length: clients }, () => refusal),
      );
      await ledger.holds(service);

      disk.makeRoom();
      assert.deepEqual(new Set(await ledger.retry(service)), new Set([201]));
      await ledger.holds(service);
      process.kill(service.pid, "SIGKILL");
    }

    await using service = await start(disk);
    await ledger.holds(service);
    assert.ok(ledger.entries.length > clients, `${ledger.entries.length} writes`);
    assert.equal(ledger.entries.filter(({ acknowledged }) => acknowledged === null).length, 0);
    isSound(`${disk.folder}/latchkey.db`);
  });
}

test("starts on a full disk after a kill with all acknowledged writes, and stores a retried write once", async () => {
  using disk = mountSmallDisk(4);
  disk.fill(ballastBytes);
  const ledger = makeLedger();
  {
    await using service = await start(disk);
    await ledger.writeUntilRefused(service, clients);
    process.kill(service.pid, "SIGKILL");
  }

  await using service = await start(disk);
  await ledger.holds(service);
  await ledger.retry(service);
  await ledger.holds(service);
  disk.makeRoom();
  assert.deepEqual(new Set(await ledger.retry(service)), new Set([201]));

  await ledger.holds(service);
  isSound(`${disk.folder}/latchkey.db`);
});

test("is ready on a full disk, and serves logins that write nothing", async () => {
  using disk = mountSmallDisk(4);
  await using service = await start(disk);
  const post = async (target: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(service.address + target, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const bearer = await logIn(service);
  const user = { name: "Ada", email: "ada@example.com" };
  const repeated = { ...bearer, "idempotency-key": "told-before" };
  assert.equal((await post("/users", user, repeated)).status, 201);
  disk.fill();
  await makeLedger().writeUntilRefused(service, 1);

  const credentials = { username: "admin", password };
  const basic = { authorization: `Basic ${Buffer.from(`admin:${password}`).toString("base64")}` };
  const { refresh } = (await (await post("/api/token/", credentials)).json()) as { refresh: string };
  const statuses = {
    ready: (await fetch(`${service.address}/readyz`)).status,
    basic: (await fetch(`${service.address}/protected/`, { headers: basic })).status,
    tokens: (await post("/api/token/", credentials)).status,
    verify: (await post("/api/token/verify/", { token: refresh })).status,
    "told before": (await post("/users", user, repeated)).status,
    refresh: (await post("/api/token/refresh/", { refresh })).status,
    session: (await post("/api/session/", credentials)).status,
    "wrong password": (await post("/api/token/", { ...credentials, password: "not this one" })).status,
  };

  assert.deepEqual(statuses, {
    ready: 200,
    basic: 200,
    tokens: 200,
    verify: 200,
    "told before": 201,
    // These responses require a write: of the used token, the session, the wrong password.
    refresh: 507,
    session: 507,
    "wrong password": 507,
  });
});

test("does not start without free space for the database or the secret, and reports the full disk", () => {
  using disk = mountSmallDisk(1);
  disk.fill();

  const settings = { LATCHKEY_DATABASE: `sqlite:${disk.folder}/latchkey.db`, LATCHKEY_PORT: "0" };
  const [withSecret, without] = [{ LATCHKEY_SECRET: "a secret of 32 characters or more" }, {}].map((secret) =>
    spawnSync(process.execPath, [path.join(import.meta.dirname, "../../src/cli/latchkey.ts")], {
      cwd: disk.folder,
      encoding: "utf8",
      timeout: 10_000,
      env: { ...process.env, ...settings, ...secret },
    }),
  );

  assert.equal(
    withSecret!.stderr,
    "Latchkey cannot start. SQLite: the disk is full. Free space on its disk (database or disk is full)\n",
  );
  assert.equal(withSecret!.status, 1);
  assert.match(without!.stderr, /latchkey\.secret cannot be created \(ENOSPC\)\. Free space on its disk/);
  assert.equal(without!.status, 78);
});
