import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../../tests/harness/free-port.ts";
import { makeLedger } from "../../tests/harness/ledger.ts";
import { startPostgres } from "../../tests/harness/postgres.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";
import { requireBlock } from "./page.ts";
import { runProgram } from "./program.ts";
import { adminPassword } from "./upstream.ts";

/** Two processes on a database behind PgBouncer, with the configuration of docs/scaling.md. */
interface Pooled {
  readonly services: readonly [ServiceProcess, ServiceProcess];
  /** Kills PgBouncer with all its connections, and starts it again. */
  restart(): Promise<void>;
}

async function startPooled(t: TestContext, connections: number): Promise<Pooled> {
  const postgres = await startPostgres();
  t.after(postgres.stop);
  const database = new URL(await postgres.makeDatabase());
  const name = database.pathname.slice(1);
  const port = await freePort();
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-pgbouncer-"));
  const users = path.join(folder, "userlist.txt");
  const file = path.join(folder, "pgbouncer.ini");
  writeFileSync(users, `"${database.username}" "${database.password}"\n`);
  const written = requireBlock("ini", "pgbouncer")
    .replace("latchkey = host=db.internal dbname=latchkey", `${name} = host=127.0.0.1 port=${database.port}`)
    .replace("listen_port = 6432", `listen_port = ${port}`)
    .replace("default_pool_size = 20", `default_pool_size = ${connections}`)
    .replace("/etc/pgbouncer/userlist.txt", users);
  writeFileSync(file, written);
  // PgBouncer does not start as root. So it runs as `nobody`, who must be able to enter the folder.
  chmodSync(folder, 0o755);
  const asNobody = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const start = (): Promise<() => Promise<void>> =>
    runProgram(t, { name: "pgbouncer", args: [...asNobody, file], port, folder, endedBy: "SIGKILL" });

  let end = await start();
  const through = new URL(database);
  through.port = String(port);
  through.searchParams.set("pgbouncer", "true");
  const settings = {
    LATCHKEY_DATABASE: through.href,
    LATCHKEY_SECRET: "a secret that both of the processes know",
    LATCHKEY_ADMIN_PASSWORD: adminPassword,
  };
  // Starts both processes concurrently on the empty database.
  const services = await Promise.all([startService(settings), startService(settings)]);
  t.after(() => Promise.all(services.map((each) => each[Symbol.asyncDispose]())));
  return {
    services,
    async restart() {
      await end();
      end = await start();
    },
  };
}

test("shares three connections between two processes through PgBouncer, and stores each acknowledged write once if PgBouncer is killed under load", async (t) => {
  const { services, restart } = await startPooled(t, 3);
  const ledger = makeLedger(adminPassword);
  for (let round = 0; round < 3; round++) {
    const loads = services.map((service) => ledger.load(service));
    await Promise.all(loads.map(({ begun }) => begun));
    await restart();
    const back = performance.now();
    for (const at of await Promise.all(loads.map((load) => load.nextWrite())))
      assert.ok(at - back < 5000, `${at - back} ms`);
    await Promise.all(loads.map((load) => load.stop()));
  }

  await ledger.settle(services[0]);
  for (const service of services) {
    await ledger.verify(service);
    assert.equal((await fetch(`${service.address}/readyz`)).status, 200);
  }
  t.diagnostic(ledger.summary());
});

test("reports a logout to the other process within a second through PgBouncer, which does not support LISTEN", async (t) => {
  const { services } = await startPooled(t, 3);
  const [one, other] = services;
  const send = (service: ServiceProcess, method: string, body: unknown): Promise<Response> =>
    fetch(`${service.address}/api/token/`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const pair = await (await send(one, "POST", { username: "admin", password: adminPassword })).json();
  const { access, refresh } = pair as { readonly access: string; readonly refresh: string };
  const read = async (): Promise<number> =>
    (await fetch(`${other.address}/users`, { headers: { authorization: `Bearer ${access}` } })).status;
  assert.equal(await read(), 200);

  assert.ok((await send(one, "DELETE", { refresh })).ok);
  await wait(1000);

  assert.equal(await read(), 401);
});
