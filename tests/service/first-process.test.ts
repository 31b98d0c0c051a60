import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { command } from "../harness/command.ts";
import { freePort } from "../harness/free-port.ts";
import { startService, type ServiceProcess } from "../harness/service-process.ts";

/**
 * Returns a shell command that writes a config file and starts the service. `standardError` is the redirection of
 * standard error.
 */
function configured(config: string, standardError = "2>&1"): readonly string[] {
  const script = `printf %s "$1" > latchkey.config.mjs; exec "$2" "$3" ${standardError}`;
  return ["sh", "-c", script, "sh", config, process.execPath, command];
}

const slow = `endpoints: [{
  method: "GET", path: "/slow", access: "open",
  async handle() {
    console.log("It is asked.");
    await new Promise((done) => setTimeout(done, 1500));
    return { status: 204, headers: [] };
  },
}]`;

async function startWorkers(config: string, standardError?: string): Promise<ServiceProcess> {
  const LATCHKEY_PORT = String(await freePort());
  const service = await startService({ LATCHKEY_PORT, LATCHKEY_WORKERS: "2" }, configured(config, standardError));
  await until(() => listWorkers(service).length === 2);
  return service;
}

/** Sends four slow requests, and waits until the handler runs for all of them. Returns the pending responses. */
async function askSlowly(
  service: ServiceProcess,
): Promise<{ readonly answers: Promise<readonly (number | string)[]> }> {
  const ask = (): Promise<number | string> =>
    fetch(`${service.address}/slow`).then(
      ({ status }) => status,
      (error: Error) => String(error.cause),
    );
  const answers = Promise.all(Array.from({ length: 4 }, ask));
  await until(() => countSaid(service, "It is asked.") === 4);
  return { answers };
}

function countSaid(service: ServiceProcess, words: string): number {
  return service.said().split(words).length - 1;
}

const isLinux = process.platform === "linux";
test("replaces a dead worker although standard error cannot be written", { skip: !isLinux }, async () => {
  await using service = await startWorkers("export default {}", "2>/dev/full");
  const [victim] = listWorkers(service);

  process.kill(victim!, "SIGKILL");
  await until(() => listWorkers(service).filter((pid) => pid !== victim).length === 2 || !isRunning(service.pid));

  assert.ok(isRunning(service.pid));
});

test("ends with 78 for wrong settings although standard error cannot be written", { skip: !isLinux }, () => {
  for (const LATCHKEY_WORKERS of ["1", "2"]) {
    const { status } = runUntilEnd("export default {}", { LATCHKEY_WORKERS, LATCHKEY_SCHEMES: "none" }, "2>/dev/full");
    assert.equal(status, 78);
  }
});

for (const LATCHKEY_WORKERS of ["1", "2"]) {
  const left = `setInterval(() => {}, 1000); export default {}`;

  test(`ends on SIGTERM in spite of work that a config file leaves running, with LATCHKEY_WORKERS=${LATCHKEY_WORKERS}`, async () => {
    const settings = { LATCHKEY_WORKERS, LATCHKEY_PORT: String(await freePort()) };
    await using service = await startService(settings, configured(left));

    process.kill(service.pid, "SIGTERM");
    const ended = await Promise.race([service.ended, wait(8000, "never", { ref: false })]);
    if (ended === "never") process.kill(service.pid, "SIGKILL");

    assert.equal(ended, 0);
  });

  test(`ends a failed start in spite of work that a config file leaves running, with LATCHKEY_WORKERS=${LATCHKEY_WORKERS}`, () => {
    const { status, stdout } = runUntilEnd(left, { LATCHKEY_WORKERS, LATCHKEY_SCHEMES: "remote-user" });

    assert.match(stdout, /Latchkey cannot start/);
    assert.equal(status, 78);
  });

  test(`ends on SIGTERM in spite of a feature whose stop fails, with LATCHKEY_WORKERS=${LATCHKEY_WORKERS}`, async () => {
    const settings = { LATCHKEY_WORKERS, LATCHKEY_PORT: String(await freePort()) };
    const odd = `{ name: "odd", needs: [], setUp: () => ({ offer: null, stop() { throw new Error("planted"); } }) }`;
    const config = `setInterval(() => {}, 1000); export default { features: [${odd}] }`;
    await using service = await startService(settings, configured(config));

    process.kill(service.pid, "SIGTERM");
    const ended = await Promise.race([service.ended, wait(8000, "never", { ref: false })]);
    if (ended === "never") process.kill(service.pid, "SIGKILL");

    assert.equal(ended, 1);
    assert.match(service.said(), /did not stop cleanly\. .*feature odd: stop threw Error: planted/);
  });

  test(`ends with 78 for a wrong declaration, with LATCHKEY_WORKERS=${LATCHKEY_WORKERS}`, () => {
    const odd = `{ name: "odd", needs: [], setUp: () => ({}) }`;
    const { status, stdout } = runUntilEnd(`export default { features: [${odd}] }`, { LATCHKEY_WORKERS });

    assert.match(stdout, /One declaration is wrong/);
    assert.equal(status, 78);
  });

  test(`ends with 0 on SIGTERM while the config file is loaded, with LATCHKEY_WORKERS=${LATCHKEY_WORKERS}`, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-loads-"));
    writeFileSync(
      path.join(folder, "latchkey.config.mjs"),
      `console.log("It begins."); await new Promise((done) => setTimeout(done, 30_000));`,
    );
    const child = spawn(process.execPath, [command], {
      cwd: folder,
      env: { ...process.env, LATCHKEY_WORKERS },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    await once(child.stdout, "data");

    child.kill("SIGTERM");

    assert.deepEqual(await ended, [0, null]);
    rmSync(folder, { recursive: true, force: true });
  });
}

test("ends within 14 s of SIGTERM although a thread hangs", async () => {
  // The writing thread never answers any message.
  const hung = `import threads from "node:worker_threads"; import { syncBuiltinESMExports } from "node:module";
    const { Worker } = threads;
    const still = "data:text/javascript,Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)";
    threads.Worker = class extends Worker {
      constructor(url, options) { super(options.name === "latchkey-writer" ? new URL(still) : url, options); }
    };
    syncBuiltinESMExports();`;
  const LATCHKEY_SECRET = randomBytes(48).toString("base64");
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-hung-"));
  const settings = { LATCHKEY_SECRET, LATCHKEY_DATABASE: `sqlite:${path.join(folder, "latchkey.db")}` };
  // Creates the first administrator, because the next start cannot write.
  await (await startService(settings))[Symbol.asyncDispose]();
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hung)}`;
  await using service = await startService({ ...settings, NODE_OPTIONS }, configured("export default {}"));

  process.kill(service.pid, "SIGTERM");
  const ended = await Promise.race([service.ended, wait(25_000, "never", { ref: false })]);
  if (ended === "never") process.kill(service.pid, "SIGKILL");

  assert.equal(ended, 1);
  assert.match(service.said(), /did not stop cleanly\. It did not finish within 14 s/);
  rmSync(folder, { recursive: true, force: true });
});

for (const [what, config] of [
  ["the config file", "await new Promise(() => {}); export default {}"],
  [
    "the start of a feature",
    `export default { features: [{ name: "odd", needs: [], setUp: () => ({ offer: null, start: () => new Promise(() => {}) }) }] }`,
  ],
] as const)
  test(`ends the start with a message if ${what} waits for a promise that never settles`, () => {
    const { status, stdout } = runUntilEnd(config, {});

    assert.match(
      stdout,
      /^Latchkey cannot start\. The config file, or the start of a feature, waits for a promise that never settles\.$/m,
    );
    assert.equal(status, 1);
  });

test("ends with 0 on SIGTERM before the service is loaded", () => {
  const early = `import { registerHooks } from "node:module";
    registerHooks({ resolve(specifier, context, next) {
      if (/\\/serve[-.]/.test(specifier)) process.kill(process.pid, "SIGTERM");
      return next(specifier, context);
    } });`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(early)}`;

  assert.equal(runUntilEnd("export default {}", { NODE_OPTIONS }).status, 0);
});

test("loses no request on SIGHUP to all processes, right after the start and later", async () => {
  const LATCHKEY_PORT = String(await freePort());
  // The config file makes the first process send itself SIGHUP right after the start.
  const begun = `if (process.send) console.log("A worker begins."); else process.kill(process.pid, "SIGHUP");`;
  const config = `${begun} export default { ${slow} }`;
  await using service = await startService({ LATCHKEY_PORT, LATCHKEY_WORKERS: "2" }, configured(config));
  // Waits until SIGHUP has replaced the first worker: three workers have started, and two are left.
  await until(() => countSaid(service, "A worker begins.") === 3 && listWorkers(service).length === 2);
  const before = listWorkers(service);
  const { answers } = await askSlowly(service);

  for (const pid of [service.pid, ...before]) process.kill(pid, "SIGHUP");

  assert.deepEqual(await answers, [204, 204, 204, 204]);
  await until(() => listWorkers(service).every((pid) => !before.includes(pid)));
  await until(() => listWorkers(service).length === 2);
});

test("sets only V8 flags that the V8 of this Node knows", async () => {
  await using service = await startService({}, configured("export default {}"));

  assert.doesNotMatch(service.said(), /flag/);
});

test("ends a process without workers on SIGHUP as on SIGTERM", async () => {
  await using service = await startService({}, configured(`export default { ${slow} }`));
  const { answers } = await askSlowly(service);

  process.kill(service.pid, "SIGHUP");

  assert.deepEqual(await answers, [204, 204, 204, 204]);
  assert.equal(await service.ended, 0);
});

test("logs a fault of the config file in the first process, and its workers finish their requests", async () => {
  const fault = `if (!process.send) process.on("SIGUSR2", () => { throw new Error("planted"); });`;
  await using service = await startWorkers(`${fault} export default { ${slow} }`);
  const { answers } = await askSlowly(service);

  process.kill(service.pid, "SIGUSR2");

  assert.deepEqual(await answers, [204, 204, 204, 204]);
  assert.equal(await service.ended, 1);
  assert.match(service.said(), /^\{.*"level":"error".*Uncaught exception: the process ends.*Error: planted\\n {4}at /m);
});

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
}

/** Starts the command and waits until it ends by itself. Returns its exit status and output. */
function runUntilEnd(config: string, settings: Readonly<Record<string, string>>, standardError?: string): Ended {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-first-"));
  const [file = "", ...args] = configured(config, standardError);
  const env = { ...process.env, LATCHKEY_PORT: "0", ...settings };
  const ended = spawnSync(file, args, { cwd: folder, env, encoding: "utf8", timeout: 15_000, killSignal: "SIGKILL" });
  rmSync(folder, { recursive: true, force: true });
  return ended;
}

function listWorkers({ pid }: ServiceProcess): number[] {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return stdout.split("\n").filter(Boolean).map(Number);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await wait(25);
}
