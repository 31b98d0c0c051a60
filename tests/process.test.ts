import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { basicHeader } from "./serve.ts";
import { startService, type ServiceProcess } from "./service-process.ts";

const command = path.join(import.meta.dirname, "../src/cli/latchkey.ts");

async function accessToken({ address, password }: ServiceProcess): Promise<string> {
  const response = await fetch(`${address}/api/token/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password }),
  });
  return ((await response.json()) as { access: string }).access;
}

test("two processes on one file answer each other's tokens and sessions, and see a logout at once", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-two-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const shared = {
    LATCHKEY_DATABASE: `sqlite:${path.join(folder, "latchkey.db")}`,
    LATCHKEY_ADMIN_PASSWORD: "shared by the two",
  };
  await using first = await startService(shared);
  await using second = await startService(shared);
  const body = JSON.stringify({ username: "admin", password: "shared by the two" });
  const json = { "content-type": "application/json" };
  const pair = (await (await fetch(`${first.address}/api/token/`, { method: "POST", headers: json, body })).json()) as {
    access: string;
    refresh: string;
  };
  const session = await fetch(`${first.address}/api/session/`, { method: "POST", headers: json, body });
  const cookie = session.headers.getSetCookie()[0]!.split(";")[0]!;
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${second.address}/protected/`, { headers })).status;

  assert.equal(await ask({ authorization: `Bearer ${pair.access}` }), 200);
  assert.equal(await ask({ cookie }), 200);

  await fetch(`${first.address}/api/token/`, {
    method: "DELETE",
    headers: json,
    body: JSON.stringify({ refresh: pair.refresh }),
  });
  await fetch(`${first.address}/api/session/`, { method: "DELETE", headers: { cookie } });

  assert.equal(await ask({ authorization: `Bearer ${pair.access}` }), 401);
  assert.equal(await ask({ cookie }), 401);
});

test("SIGTERM finishes what is in flight, refuses what comes after, and exits with 0", async () => {
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
  const { hostname, port } = new URL(/http:\/\/[\d.:]+/.exec(String(said))![0]);
  const body = JSON.stringify({ name: "Late", email: "late@example.com" });
  const socket = connect(Number(port), hostname);
  const { authorization } = basicHeader("admin", "of the one that ends");
  socket.write(
    `POST /users HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  await wait(100);

  child.kill("SIGTERM");
  await wait(100);
  socket.write(body.slice(5));
  const [answer] = (await once(socket, "data")) as [Buffer];
  const [code] = (await ended) as [number];
  rmSync(folder, { recursive: true, force: true });

  assert.match(String(answer), /^HTTP\/1\.1 201 /);
  assert.match(String(answer), /\r\nConnection: close\r\n/i);
  assert.equal(code, 0);
  await assert.rejects(fetch(`http://${hostname}:${port}/livez`));
});

test("wrong settings are told all at once, with exit status 78, and leave nothing behind", () => {
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

test("workers share the port, and one that dies is replaced", async () => {
  await using service = await startService({ LATCHKEY_WORKERS: "2", LATCHKEY_PORT: String(await freePort()) });
  const authorization = `Bearer ${await accessToken(service)}`;
  const workers = (): number[] =>
    spawnSync("pgrep", ["-P", String(service.pid)], { encoding: "utf8" })
      .stdout.split("\n")
      .filter(Boolean)
      .map(Number);
  while (workers().length < 2) await wait(50);
  const [victim] = workers();

  process.kill(victim!, "SIGKILL");
  while (workers().length < 2 || workers().includes(victim!)) await wait(50);

  // The other may still be starting: what counts is that the port answers again, and takes the token of the one that died.
  let status = 0;
  while (status === 0) {
    status = await fetch(`${service.address}/protected/`, { headers: { authorization } }).then(
      (response) => response.status,
      () => wait(50, 0),
    );
  }
  assert.equal(status, 200);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
