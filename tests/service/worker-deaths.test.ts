import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { command } from "../harness/command.ts";
import { freePort } from "../harness/free-port.ts";
import { startService, type ServiceProcess } from "../harness/service-process.ts";

// `npm run verify -- workers` kills more workers. The tests need Linux, because they read the open files of processes
// from /proc.
const kills = Number(process.env["WORKER_KILLS"] ?? 4);

/** Longer than any response takes here, even on a busy machine. */
const FOREVER_MS = 5000;

const REPLACED_WITHIN_MS = 2000;

test("answers every client that connects while a worker is stopped, after the worker is killed", async () => {
  await using service = await startWorkers();
  const [victim] = serving(service);

  process.kill(victim!, "SIGSTOP");
  // Waits until the system has stopped the worker. Until then, the worker may still accept a connection.
  await until(() => /^\d+ \(.*\) T /.test(readFileSync(`/proc/${victim!}/stat`, "utf8")));
  const answers = Array.from({ length: 20 }, () => ask(service));
  await wait(100);
  process.kill(victim!, "SIGKILL");

  assert.deepEqual(new Set(await Promise.all(answers)), new Set(["answered"]));
});

test(`leaves no client waiting and no descriptor open after ${kills} killed workers under load, and starts each replacement within 2 s`, async (t) => {
  await using service = await startWorkers();
  const before = descriptors(service.pid).length;
  const outcomes = { answered: 0, reset: 0, refused: 0, nothing: 0 };
  let isOver = false;
  const lanes = Array.from({ length: 8 }, async () => {
    while (!isOver) outcomes[await ask(service)]++;
  });

  const begun: number[] = [];
  const served: number[] = [];
  for (let killed = 0; killed < kills; killed++) {
    // Alternately kills a worker that serves, and its replacement while the replacement is starting.
    const serve = serving(service);
    const victim = killed % 2 === 0 ? serve[0]! : listWorkers(service).find((pid) => !serve.includes(pid))!;
    process.kill(victim, "SIGKILL");
    const killedAt = performance.now();
    await until(() => listWorkers(service).filter((pid) => pid !== victim).length === 2);
    begun.push(performance.now() - killedAt);
    if (killed % 2 === 0) continue;
    await until(() => serving(service).length === 2);
    served.push(performance.now() - killedAt);
  }
  await until(() => serving(service).length === 2);
  isOver = true;
  await Promise.all(lanes);

  t.diagnostic(
    `${JSON.stringify(outcomes)}; two workers served again after ${Math.round(Math.max(...served))} ms at most`,
  );
  assert.equal(outcomes.nothing + outcomes.refused, 0);
  assert.ok(outcomes.answered > outcomes.reset);
  // Checks when the replacements exist as processes. The time until they serve depends on the load of the machine.
  assert.ok(Math.max(...begun) < REPLACED_WITHIN_MS);
  await until(() => descriptors(service.pid).length <= before);
});

test("keeps a random port, even if all workers die at the same time", async () => {
  await using service = await startWorkers("0");
  const victims = serving(service);

  for (const victim of victims) process.kill(victim, "SIGKILL");
  await until(() => serving(service).length === 2);

  assert.equal(await ask(service), "answered");
});

test("keeps a random port and does not blame the config file if the only serving worker dies while the next one starts", async (t) => {
  const service = await startConfigured(t, 0);

  await until(() => listWorkers(service).length === 2);
  for (const victim of serving(service)) process.kill(victim, "SIGKILL");
  await until(() => serving(service).length === 2);

  assert.equal(await ask(service), "answered");
  assert.doesNotMatch(service.said, /config file/);
});

test("replaces a blocked worker on SIGHUP, and kills it afterwards", async () => {
  await using service = await startWorkers();
  const [still] = serving(service);
  process.kill(still!, "SIGSTOP");

  process.kill(service.pid, "SIGHUP");
  await until(() => serving(service).filter((pid) => pid !== still).length === 2);
  assert.ok(listWorkers(service).includes(still!));
  await until(() => !listWorkers(service).includes(still!), 250);
  await until(() => serving(service).length === 2);
});

test("keeps the port of the start if the config file names another port later, and reports the reason", async (t) => {
  const ports = [await freePort(), await freePort()] as const;
  const service = await startConfigured(t, ports[0]);
  await until(() => serving(service).length === 2);

  service.configure(ports[1]);
  process.kill(service.pid, "SIGHUP");
  const pattern = new RegExp(`now has the port ${ports[1]}, but the other workers serve on ${ports[0]}`);
  await until(() => pattern.test(service.said));
  service.said = "";
  process.kill(serving(service)[0]!, "SIGKILL");
  await until(() => pattern.test(service.said));

  assert.equal(await ask(service), "answered");
  service.configure(ports[0]);
  await until(() => serving(service).length === 2);
});

test("starts no worker with another secret if the secret file is removed, and keeps the other worker running", async () => {
  await using service = await startWorkers();
  const secret = path.join(path.dirname(service.file), "latchkey.secret");
  renameSync(secret, `${secret}.away`);

  const [victim, left] = serving(service);
  process.kill(victim!, "SIGKILL");
  const next = (): number | undefined => listWorkers(service).find((pid) => pid !== victim && pid !== left);
  await until(() => next() !== undefined);
  const starting = next()!;
  await until(() => !listWorkers(service).includes(starting) || serving(service).includes(starting));

  assert.deepEqual(serving(service), [left]);
  assert.equal(existsSync(secret), false);
  renameSync(`${secret}.away`, secret);
  await until(() => serving(service).length === 2);
});

test("refuses a second start on the same port without affecting the first service", async () => {
  await using service = await startWorkers();

  const { status, stderr } = spawnSync(process.execPath, [command], {
    env: {
      ...process.env,
      LATCHKEY_DATABASE: "sqlite::memory:",
      LATCHKEY_SECRET: "of thirty-two characters or more",
      LATCHKEY_PORT: new URL(service.address).port,
    },
    encoding: "utf8",
  });

  assert.equal(status, 1);
  assert.match(stderr, /Another program listens on/);
  assert.equal(await ask(service), "answered");
});

async function startWorkers(port?: string): Promise<ServiceProcess> {
  const LATCHKEY_PORT = port ?? String(await freePort());
  const service = await startService({ LATCHKEY_WORKERS: "2", LATCHKEY_PORT });
  await until(() => serving(service).length === 2);
  return service;
}

/**
 * Starts two workers with the port of a config file. `said` is their standard error. `configure` changes the port in
 * the config file.
 */
async function startConfigured(
  t: TestContext,
  port: number,
): Promise<Pick<ServiceProcess, "pid" | "address"> & { said: string; configure(port: number): void }> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-ports-"));
  const configure = (port: number): void =>
    writeFileSync(
      path.join(folder, "latchkey.config.mjs"),
      `export default { settings: { port: ${port}, workers: 2 } }`,
    );
  configure(port);
  const child = spawn(process.execPath, [command], { cwd: folder });
  t.after(async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  });
  const service = { pid: child.pid!, address: "", said: "", configure };
  child.stderr.on("data", (chunk) => (service.said += String(chunk)));
  const [banner] = (await once(child.stdout, "data")) as [Buffer];
  service.address = /http:\/\/[\d.:]+/.exec(String(banner))![0];
  return service;
}

/** Sends one request over a separate connection. */
function ask({ address }: Pick<ServiceProcess, "address">): Promise<"answered" | "reset" | "refused" | "nothing"> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const timer = setTimeout(() => end("nothing"), FOREVER_MS);
    const end = (outcome: "answered" | "reset" | "refused" | "nothing"): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    socket.on("data", () => end("answered"));
    socket.on("error", (error: NodeJS.ErrnoException) => end(error.code === "ECONNREFUSED" ? "refused" : "reset"));
    socket.on("close", () => end("reset"));
    socket.write("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  });
}

function listWorkers({ pid }: Pick<ServiceProcess, "pid">): number[] {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").filter(Boolean).map(Number);
}

/** Returns the workers that have the listening socket of the port open. Only these serve. */
function serving(service: Pick<ServiceProcess, "pid" | "address">): number[] {
  const port = Number(new URL(service.address).port).toString(16).toUpperCase().padStart(4, "0");
  const listening = new RegExp(String.raw`^ *\d+: \w+:${port} \w+:0000 0A (?:\S+ +){5,6}?(\d+) `, "m");
  const inode = listening.exec(readFileSync("/proc/net/tcp", "utf8"))?.[1];
  return listWorkers(service).filter((pid) => descriptors(pid).includes(`socket:[${inode}]`));
}

/** Returns the open files of a process. Empty if it has just exited. */
function descriptors(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${name}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Checks a condition every `pauseMs` until it is true. Each check of the workers starts a program. */
async function until(isSo: () => boolean, pauseMs = 20): Promise<void> {
  while (!isSo()) await wait(pauseMs);
}
