/**
 * Runs the built service for `SOAK_MINUTES` (15) with two workers on one SQLite file. The traffic consists of writes
 * that a ledger records, reads, lists, refreshed tokens and wrong passwords. In the meantime, workers are killed,
 * certificates and settings are reloaded, and the database is backed up, checked and measured. At the end, every
 * acknowledged write is stored once, and neither the processes nor the log of the database have grown.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { makeLedger } from "../../tests/harness/ledger.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";

const minutes = Number(process.env["SOAK_MINUTES"] ?? 15);
const roundMs = 20_000;
const command = path.join(import.meta.dirname, "../../dist/cli/latchkey.js");
/** Low priority, because the test is long and other programs should not wait for it. */
const niceness = 10;

/**
 * The pause between two writes of a lane, in milliseconds. A caller may send 10,000 writes with idempotency keys a day,
 * and six lanes write as one caller.
 */
const pauseMs = Math.max(20, minutes * 42);

const settings = {
  LATCHKEY_WORKERS: "2",
  LATCHKEY_ACCESS_SECONDS: "600",
  LATCHKEY_LOG: "error",
};

interface Sample {
  readonly minute: number;
  readonly event: string;
  readonly "RSS MB": number;
  readonly "WAL MB": number;
  readonly "file MB": number;
  readonly reads: number;
  readonly failed: number;
}

test(`survives ${minutes} minutes of mixed traffic, kills, backups and checks without loss or growth`, async (t) => {
  assert.ok(existsSync(command), "Build it first: npm run build");
  setPriority(niceness);
  await using service = await startService(settings, [process.execPath, command]);
  const ledger = makeLedger(service.password);
  const traffic = startTraffic(service);
  const events = [killWorker, backup, reload, check, measure];
  const samples: Sample[] = [];
  const begun = performance.now();

  try {
    for (let round = 0; performance.now() - begun < minutes * 60_000; round++) {
      const load = ledger.load(service, pauseMs);
      await load.begun;
      await wait(roundMs / 2);
      const event = events[round % events.length]!;
      const [walMB] = await Promise.all([largestLog(service, roundMs / 2), event(service)]);
      await load.stop();
      const { reads, failed } = traffic.counts();
      samples.push({
        minute: Math.round((performance.now() - begun) / 6000) / 10,
        event: event.name,
        "RSS MB": Math.round(listProcesses(service).reduce((sum, pid) => sum + residentMB(pid), 0)),
        "WAL MB": walMB,
        "file MB": Math.round(statSync(service.file).size / 1e5) / 10,
        reads,
        failed,
      });
    }
  } finally {
    await traffic.stop();
  }
  for (const each of samples) t.diagnostic(JSON.stringify(each));
  t.diagnostic(ledger.summary());

  await ledger.settle(service);
  await ledger.verify(service);
  const third = Math.ceil(samples.length / 3);
  const most = (part: readonly Sample[], what: "RSS MB" | "WAL MB"): number =>
    Math.max(...part.map((each) => each[what]));
  const [early, late] = [samples.slice(0, third), samples.slice(-third)];
  assert.ok(most(late, "RSS MB") < most(early, "RSS MB") * 1.3 + 20, "the processes have grown");
  assert.ok(most(late, "WAL MB") <= 65, "the log has grown");
  process.kill(service.pid, "SIGTERM");
  assert.equal(await service.ended, 0);
});

/** Returns the ids of the first process and of the processes that it has started. */
function listProcesses({ pid }: ServiceProcess): number[] {
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return [pid, ...workers];
}

function residentMB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}

/** Returns the largest size of the log within a time, in megabytes. */
async function largestLog({ file }: ServiceProcess, withinMs: number): Promise<number> {
  let bytes = 0;
  for (const end = performance.now() + withinMs; performance.now() < end; await wait(200))
    bytes = Math.max(bytes, statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);
  return Math.round(bytes / 1e5) / 10;
}

async function killWorker(service: ServiceProcess): Promise<void> {
  const [, victim] = listProcesses(service);
  if (victim !== undefined) process.kill(victim, "SIGKILL");
}

async function reload({ pid }: ServiceProcess): Promise<void> {
  process.kill(pid, "SIGHUP");
}

async function backup(service: ServiceProcess): Promise<void> {
  const to = `${service.file}.backup`;
  await run(service, "db", "backup", to);
  rmSync(to);
}

const check = (service: ServiceProcess): Promise<void> => run(service, "db", "check");
const measure = (service: ServiceProcess): Promise<void> => run(service, "db", "stats");

async function run({ file }: ServiceProcess, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [command, ...args], {
    cwd: path.dirname(file),
    env: { ...process.env, LATCHKEY_DATABASE: `sqlite:${file}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  assert.equal(status, 0, `${args.join(" ")}: ${out}${errors}`);
}

/**
 * Sends reads, lists, searches, refreshes and wrong passwords until it is stopped. Counts the requests that a killed
 * worker has cut off.
 */
function startTraffic({ address, password }: ServiceProcess) {
  let isOver = false;
  let reads = 0;
  let failed = 0;
  const login = { username: "admin", password };

  async function ask(
    method: string,
    to: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Response | null> {
    try {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(address + to, {
        method,
        headers: { "content-type": "application/json", ...headers },
        ...sent,
      });
      if (response.status >= 500 && response.status !== 503)
        throw new assert.AssertionError({ message: `${to}: ${response.status}` });
      if (response.status === 503) failed++;
      return response;
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      failed++;
      return null;
    }
  }

  async function lane(step: () => Promise<void>): Promise<void> {
    while (!isOver) {
      await step();
      await wait(50);
    }
  }

  let tokens: { access: string; refresh: string } | null = null;
  async function refresh(): Promise<void> {
    const answer =
      tokens === null
        ? await ask("POST", "/api/token/", {}, login)
        : await ask("POST", "/api/token/refresh/", {}, { refresh: tokens.refresh });
    tokens = answer?.ok === true ? ((await answer.json()) as { access: string; refresh: string }) : null;
    await wait(500);
  }

  const paths = [
    "/users/1",
    "/users?limit=100",
    "/users?search=once&limit=10",
    "/orders?limit=10",
    "/users?limit=1&count=exact",
  ];
  async function read(): Promise<void> {
    const authorization = `Bearer ${tokens?.access ?? ""}`;
    const answer = await ask("GET", paths[reads % paths.length]!, { authorization });
    await answer?.text().catch(() => "");
    reads++;
  }

  const guess = async (): Promise<void> => {
    const answer = await ask(
      "POST",
      "/api/token/",
      {},
      { username: `guest${Math.floor(Math.random() * 1000)}`, password: "wrong" },
    );
    await answer?.text().catch(() => "");
    // The pause prevents the throttle from refusing the other requests from this address.
    await wait(10_000);
  };

  const lanes = Promise.all([lane(refresh), lane(read), lane(read), lane(guess)]);
  // Prevents an unhandled rejection. `stop` throws the error.
  lanes.catch(() => undefined);
  return {
    counts: () => ({ reads, failed }),
    async stop(): Promise<void> {
      isOver = true;
      await lanes;
    },
  };
}
