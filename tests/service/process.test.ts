import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { command } from "../harness/command.ts";
import { freePort } from "../harness/free-port.ts";
import { sendHalf, untilClosed } from "../harness/half-sent.ts";
import { startService, type ServiceProcess } from "../harness/service-process.ts";

async function accessToken({ address, password }: ServiceProcess): Promise<string> {
  const response = await fetch(`${address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  return ((await response.json()) as { access: string }).access;
}

test("creates no file if another program uses the port", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-taken-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;

  for (const workers of ["1", "2"]) {
    const child = spawn(process.execPath, [command], {
      cwd: folder,
      env: { ...process.env, LATCHKEY_PORT: String(port), LATCHKEY_WORKERS: workers },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const said = child.stderr.toArray();

    assert.deepEqual(await once(child, "exit"), [1, null]);
    assert.match((await said).join(""), new RegExp(`Another program listens on 127\\.0\\.0\\.1:${port}\\.`));
    assert.deepEqual(readdirSync(folder), []);
  }
});

test("finishes requests in progress on SIGTERM, closes the port, and exits with 0", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-term-"));
  const child = spawn(process.execPath, [command], {
    cwd: folder,
    env: {
      ...process.env,
      LATCHKEY_PORT: "0",
      LATCHKEY_LOG: "silent",
      LATCHKEY_ADMIN_PASSWORD: "of the one that ends",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const [address] = /http:\/\/[\d.:]+/.exec(String(said))!;
  const late = await sendHalf(address, "of the one that ends");

  child.kill("SIGTERM");
  await untilClosed(address);
  const answer = await late.finish();
  const [code] = (await ended) as [number];
  rmSync(folder, { recursive: true, force: true });

  assert.match(answer, /^HTTP\/1\.1 201 /);
  assert.match(answer, /\r\nConnection: close\r\n/i);
  assert.equal(code, 0);
});

test("exits with 0 on SIGTERM during the start, and as soon as the start is announced", async () => {
  const slow = `export default { features: [{ name: "slow", needs: [], setUp: () => ({
    offer: null, start() { console.log("It begins."); return new Promise(() => {}); },
  }) }] };`;
  const endings = [slow, null, null, null].map(async (config) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-term-"));
    if (config !== null) writeFileSync(path.join(folder, "latchkey.config.mjs"), config);
    const child = spawn(process.execPath, [command], {
      cwd: folder,
      env: { ...process.env, LATCHKEY_PORT: "0", LATCHKEY_LOG: "silent" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    await Promise.race([once(child.stdout, "data"), ended]);
    child.kill("SIGTERM");
    const ending: unknown = await ended;
    rmSync(folder, { recursive: true, force: true });
    return ending;
  });

  assert.deepEqual(await Promise.all(endings), Array(4).fill([0, null]));
});

test("reports all wrong settings together, and exits with 78", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-wrong-"));
  const ended = spawnSync(process.execPath, [command], {
    cwd: folder,
    env: { ...process.env, LATCHKEY_PORT: "eighty", LATCHKEY_SCHEMS: "basic" },
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true, force: true });

  assert.equal(ended.status, 78);
  assert.match(ended.stderr, /LATCHKEY_PORT is "eighty"/);
  assert.match(ended.stderr, /LATCHKEY_SCHEMS is not a setting\. The nearest is LATCHKEY_SCHEMES/);
});

test("answers one more request on a kept connection after SIGTERM, and does not wait for silent connections", async () => {
  await using service = await startService();
  const { hostname, port } = new URL(service.address);
  const connection = await openConnection(hostname, Number(port));
  const silent = await openConnection(hostname, Number(port));
  assert.match(await ask(connection, "/livez"), /^HTTP\/1\.1 200 [^]*\r\nConnection: keep-alive\r\n/i);
  const startedAt = performance.now();

  process.kill(service.pid, "SIGTERM");
  await refusal(hostname, Number(port));

  assert.match(await ask(connection, "/readyz"), /^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n/i);
  assert.equal(await service.ended, 0);
  assert.ok(performance.now() - startedAt < 5000);
  silent.destroy();
});

test("keeps the port open behind a proxy after /readyz has answered 503, and then answers on kept connections", async () => {
  await using service = await startService({ LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" });
  const { hostname, port } = new URL(service.address);
  const connection = await openConnection(hostname, Number(port));
  await ask(connection, "/livez");

  process.kill(service.pid, "SIGTERM");
  let status = 200;
  const headers = { connection: "close" };
  while (status === 200) ({ status } = await fetch(`${service.address}/readyz`, { headers }));
  const served = await fetch(`${service.address}/livez`, { headers });
  await refusal(hostname, Number(port));

  assert.deepEqual([status, served.status], [503, 200]);
  assert.match(await ask(connection, "/livez"), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/i);
  assert.equal(await service.ended, 0);
});

test("replaces a dead worker, replaces all workers on SIGHUP without a failed request, and ends them on SIGTERM", async (t) => {
  await using service = await startService({ LATCHKEY_WORKERS: "2", LATCHKEY_PORT: String(await freePort()) });
  const headers = { authorization: `Bearer ${await accessToken(service)}` };
  await until(() => listWorkers(service).length === 2);
  const [victim] = listWorkers(service);

  process.kill(victim!, "SIGKILL");
  await until(() => listWorkers(service).length === 2 && !listWorkers(service).includes(victim!));
  // The replacement may still be starting. When the port answers again, it must accept the token that the dead worker
  // issued.
  const askStatus = (): Promise<number> =>
    fetch(`${service.address}/protected/`, { headers }).then(
      ({ status }) => status,
      () => 0,
    );
  await until(async () => (await askStatus()) !== 0);
  assert.equal(await askStatus(), 200);

  const load = startLoad(service, headers);
  const before = listWorkers(service);
  process.kill(service.pid, "SIGHUP");
  await until(() => before.every((worker) => !listWorkers(service).includes(worker)));
  const { failures, answered, acknowledged } = await load.stop();

  assert.deepEqual(failures, []);
  assert.equal(listWorkers(service).length, 2);
  const listed = await fetch(`${service.address}/users?limit=1`, { headers: { ...headers, prefer: "count=exact" } });
  assert.equal(listed.headers.get("x-total-count"), String(acknowledged + 1));
  t.diagnostic(`${answered} requests`);

  const last = listWorkers(service);
  process.kill(service.pid, "SIGTERM");
  assert.equal(await service.ended, 0);
  assert.deepEqual(last.filter(isRunning), []);
});

test("lets workers end by themselves after the first process is killed", async () => {
  await using service = await startService({ LATCHKEY_WORKERS: "2", LATCHKEY_PORT: String(await freePort()) });
  await until(() => listWorkers(service).length === 2);
  const workers = listWorkers(service);

  process.kill(service.pid, "SIGKILL");
  await until(() => workers.every((worker) => !isRunning(worker)));

  await assert.rejects(fetch(`${service.address}/livez`));
});

test("ends the command with the status of workers that cannot start", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-wrong-"));
  const ended = spawnSync(process.execPath, [command], {
    cwd: folder,
    env: {
      ...process.env,
      LATCHKEY_WORKERS: "2",
      LATCHKEY_PORT: "0",
      LATCHKEY_SCHEMES: "custom-header",
      LATCHKEY_CUSTOM_TOKEN: "a-token-that-is-long-enough-to-be-one",
      LATCHKEY_CUSTOM_TOKEN_USERNAME: "nobody",
    },
    encoding: "utf8",
    timeout: 20_000,
  });
  rmSync(folder, { recursive: true, force: true });

  assert.equal(ended.status, 78);
  assert.equal(ended.stderr.match(/there is no such account/g)?.length, 1);
});

interface Load {
  /** Ends the load and returns its results. */
  stop(): Promise<{ readonly failures: readonly string[]; readonly answered: number; readonly acknowledged: number }>;
}

/**
 * Starts clients that write and read. One of them opens a connection for each request, and the others reuse
 * connections.
 */
function startLoad({ address }: ServiceProcess, headers: Readonly<Record<string, string>>): Load {
  const failures: string[] = [];
  let answered = 0;
  let acknowledged = 0;
  let stopped = false;

  async function run(lane: number): Promise<void> {
    const connection = lane === 0 ? { connection: "close" } : {};
    const send = async (method: string, target: string, body?: object): Promise<number> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const type = { "content-type": "application/json" };
      return fetch(address + target, { method, headers: { ...headers, ...type, ...connection }, ...sent }).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        (error: Error) => (failures.push(`${method} ${target}: ${String(error.cause)}`), 0),
      );
    };
    for (let turn = 0; !stopped; turn++) {
      const made = await send("POST", "/users", { name: "Made", email: `${lane}-${turn}@example.com` });
      if (made === 201) acknowledged++;
      const read = await send("GET", "/users/1");
      for (const status of [made, read]) if (status !== 200 && status !== 201) failures.push(String(status));
      answered += 2;
      await wait(2);
    }
  }

  const lanes = Array.from({ length: 4 }, (_, lane) => run(lane));
  return {
    async stop() {
      stopped = true;
      await Promise.all(lanes);
      return { failures, answered, acknowledged };
    },
  };
}

async function openConnection(host: string, port: number): Promise<Socket> {
  const socket = connect(port, host);
  await once(socket, "connect");
  return socket;
}

async function ask(socket: Socket, target: string): Promise<string> {
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return String(answer);
}

/** Resolves when the port is closed. */
async function refusal(host: string, port: number): Promise<void> {
  await until(() =>
    openConnection(host, port).then(
      (socket) => (socket.destroy(), false),
      () => true,
    ),
  );
}

function listWorkers({ pid }: ServiceProcess): number[] {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").filter(Boolean).map(Number);
}

/** Returns false for a zombie process. */
function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout !== "" && !stdout.startsWith("Z");
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(25);
}
