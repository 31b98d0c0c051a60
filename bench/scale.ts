/**
 * Measures the service by number of users, database and number of processes: reads, lists, searches, creations, logins,
 * memory, start and backup. Load, service and database share the machine, so the rates depend on it. The CPU time per
 * request depends less on it. Creates the rows with SQL. `--markdown` prints the table of docs/scaling.md.
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { startPostgres } from "../tests/harness/postgres.ts";
import { type ServiceProcess, startService } from "../tests/harness/service-process.ts";
import { fill } from "./filling.ts";
import { type Load, median, type Round, runRound } from "./round.ts";
import { logIn, type Request } from "./scenarios.ts";

const { values: options } = parseArgs({
  options: {
    sqlite: { type: "string", default: "10000,1000000" },
    postgres: { type: "string", default: "1000000" },
    workers: { type: "string", default: "1,2" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    markdown: { type: "boolean", default: false },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const secret = {
  LATCHKEY_SECRET: "a secret for as long as the benchmark runs",
  LATCHKEY_ADMIN_PASSWORD: "of the bench",
};
const dist = [process.execPath, path.join(import.meta.dirname, "../dist/cli/latchkey.js")];
const run = promisify(execFile);
const rows: Record<string, Record<string, string>> = {};

const folder = mkdtempSync(path.join(tmpdir(), "latchkey-scale-"));
try {
  for (const users of numbersIn(options.sqlite)) {
    const file = path.join(folder, `${users}.db`);
    await measureAll(`SQLite, ${power(users)} users`, `sqlite:${file}`, users);
    for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true });
  }
  if (numbersIn(options.postgres).length > 0) {
    const server = await startPostgres();
    try {
      for (const users of numbersIn(options.postgres))
        await measureAll(`PostgreSQL, ${power(users)} users`, await server.makeDatabase(), users);
    } finally {
      await server.stop();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (options.markdown) printMarkdown();
else console.table(rows);
console.log(
  `Medians of ${rounds} rounds of ${seconds} s each, everything on ${availableParallelism()} cores. PostgreSQL without fsync. Node ${process.version}, ${new Date().toISOString().slice(0, 10)}.`,
);

async function measureAll(name: string, database: string, users: number): Promise<void> {
  const settings = { LATCHKEY_DATABASE: database, ...secret };
  await (await startService(settings, dist))[Symbol.asyncDispose]();
  await fill(database, users);
  for (const workers of numbersIn(options.workers)) {
    const row = await measure({ ...settings, LATCHKEY_WORKERS: String(workers) }, workers, users);
    rows[`${name}, ${workers} process${workers > 1 ? "es" : ""}`] = {
      ...row,
      "backup s": await measureBackup(database, settings),
    };
    console.error(`${name}, ${workers}`, rows[`${name}, ${workers} process${workers > 1 ? "es" : ""}`]);
  }
}

async function measure(
  settings: Readonly<Record<string, string>>,
  workers: number,
  users: number,
): Promise<Record<string, string>> {
  const begun = performance.now();
  await using service = await startService(settings, dist);
  const startMs = performance.now() - begun;
  while (collectProcessIds(service).length < (workers > 1 ? workers + 1 : 1)) await wait(50);
  const headers = await logIn({ ...service, password: secret.LATCHKEY_ADMIN_PASSWORD });
  const get = (target: string): Load => ({ request: { path: target, headers }, status: 200, connections: 64 });
  const middle = Math.floor(users / 4) * 2 + 1;
  const measured: Record<string, string> = {
    "start ms": startMs.toFixed(0),
    read: await measureLoad(service, get(`/users/${middle}`)),
    "page of 100": await measureLoad(service, get("/users?limit=100&id[gt]=0&id[lt]={n}")),
    "search, one found": await measureLoad(service, get(`/users?search=user${middle}`)),
    // A long read. A caller may have only two of them at the same time.
    "search, all found": await measureLoad(service, { ...get("/users?search=example&limit=20"), connections: 2 }),
    create: await measureLoad(service, {
      request: posting("/users", '{"name":"Grace Hopper","email":"grace{n}@example.com"}', headers),
      status: 201,
      connections: 64,
    }),
    login: await measureLoad(service, {
      request: posting("/api/token/", `{"username":"admin","password":"${secret.LATCHKEY_ADMIN_PASSWORD}"}`, {}),
      status: 200,
      connections: 4,
    }),
  };
  const memory = collectProcessIds(service).reduce((sum, pid) => sum + residentKilobytes(pid), 0) / 1024;
  return { ...measured, "memory MB": memory.toFixed(0) };
}

function posting(target: string, body: string, headers: Readonly<Record<string, string>>): Request {
  return { method: "POST", path: target, body, headers: { ...headers, "content-type": "application/json" } };
}

/** Returns the rate, the CPU time per request and the p99: `12,345/s · 42 µs · 6 ms`. */
async function measureLoad(service: ServiceProcess, load: Load): Promise<string> {
  const all: (Round & { readonly cpu: number })[] = [];
  for (let round = 0; round <= rounds; round++) {
    const before = cpuSeconds(service);
    const result = await runRound(service, { ...load, sleeps: true }, seconds);
    all.push({ ...result, cpu: ((cpuSeconds(service) - before) * 1e6) / result.requests });
  }
  // The first round does not count, because V8 compiles the code in it.
  const counted = all.slice(1);
  const perSecond = Math.round(median(counted.map((each) => each.requestsPerSecond)));
  const cpu = Math.round(median(counted.map((each) => each.cpu)));
  const p99 = median(counted.map((each) => each.p99Ms));
  return `${perSecond.toLocaleString("en")}/s · ${cpu.toLocaleString("en")} µs · ${p99 < 10 ? p99.toFixed(1) : p99.toFixed(0)} ms`;
}

/** Returns the duration and the size of a backup. Returns `–` for PostgreSQL, which has separate tools for backups. */
async function measureBackup(database: string, settings: Readonly<Record<string, string>>): Promise<string> {
  if (!database.startsWith("sqlite:")) return "–";
  const file = path.join(folder, "backup.db");
  const begun = performance.now();
  const [command = "", ...args] = dist;
  await run(command, [...args, "db", "backup", file, "--force"], { env: { ...process.env, ...settings } });
  const took = (performance.now() - begun) / 1000;
  const megabytes = statSync(file).size / 2 ** 20;
  rmSync(file);
  return `${took.toFixed(1)} (${megabytes.toFixed(0)} MB)`;
}

function printMarkdown(): void {
  const columns = Object.keys(Object.values(rows)[0]!);
  console.log(`| | ${columns.join(" | ")} |\n|${"---|".repeat(columns.length + 1)}`);
  for (const [name, row] of Object.entries(rows))
    console.log(`| ${[name, ...columns.map((each) => row[each])].join(" | ")} |`);
}

function numbersIn(text: string | undefined): readonly number[] {
  return (text ?? "").split(",").filter(Boolean).map(Number);
}

function power(count: number): string {
  const exponent = Math.log10(count);
  return Number.isInteger(exponent) ? `10${[..."⁰¹²³⁴⁵⁶⁷⁸⁹"][exponent]!}` : count.toLocaleString("en");
}

/** Returns the ids of the service's process and of its workers. */
function collectProcessIds({ pid }: ServiceProcess): readonly number[] {
  // Without workers, `pgrep` fails and prints nothing.
  const children = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    .stdout.split("\n")
    .filter(Boolean);
  return [pid, ...children.map(Number)];
}

function cpuSeconds(service: ServiceProcess): number {
  return collectProcessIds(service).reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}

function residentKilobytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
}
