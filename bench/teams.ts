/**
 * Measures lists that `memberOf` narrows, over HTTP with one client: tasks of 10,000 projects, for users who are in
 * none, 1, 5, 1,000 and 10,000 of them, and for a user whose rows are last in each order. Each declared order in both
 * directions, with `limit=50`, and exact counts. Exits with 1 if a limit is exceeded.
 *
 *     npm run bench -- teams                             # 1,000,000 tasks on both databases, some minutes
 *     npm run bench -- teams --tasks 20000 --projects 200 --requests 20 --only sqlite
 *     npm run bench -- teams --database postgres://…     # an empty database, or one of an earlier run
 *
 * Needs no build. Run it on a quiet machine: the limits are for the time of one request, and everything shares the
 * cores. The rows are spread evenly over the projects, apart from those of the last user.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { askPostgres, startPostgres } from "../tests/harness/postgres.ts";

const { values: options } = parseArgs({
  options: {
    tasks: { type: "string", default: "1000000" },
    projects: { type: "string", default: "10000" },
    requests: { type: "string", default: "200" },
    only: { type: "string", default: "" },
    database: { type: "string" },
  },
});
const requests = Number(options.requests);

/** The users, by the number of their projects. The id is the place, from 1. */
const users = [
  "none",
  "1 project",
  "5 projects",
  "1,000 projects",
  "10,000 projects",
  "5 projects, last rows",
] as const;
const orders = ["id", "title", "rank", "due", "done"].flatMap((name) => [name, `-${name}`]);
/** The limits of the contract, in milliseconds. A list has a p50 and a p99. */
const limits = { p50: 15, p99: 150, slow: 500 } as const;

const rows: Record<string, Record<string, string>> = {};
let exceeded = 0;

if (options.database !== undefined) await measure(options.database);
else {
  if (options.only !== "postgres") await onSQLite();
  if (options.only !== "sqlite") await onPostgres();
}
console.table(rows);
console.log(
  `p50 and p99 of ${requests} requests each, in milliseconds, one client, everything on ${availableParallelism()} cores. Limits: lists ${limits.p50} and ${limits.p99}, exact counts and last rows ${limits.slow} (p99). ${exceeded === 0 ? "None is exceeded." : `${exceeded} exceeded (!).`} Node ${process.version}.`,
);
process.exitCode = exceeded === 0 ? 0 : 1;

async function onSQLite(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-teams-"));
  try {
    await measure(path.join(folder, "teams.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres(["-c", "shared_buffers=512MB"]);
  try {
    await measure(await server.makeDatabase());
  } finally {
    await server.stop();
  }
}

/** Measures one database. Makes its rows if it is empty. */
async function measure(database: string): Promise<void> {
  const isPostgres = database.startsWith("postgres");
  const args = ["--database", database, "--tasks", options.tasks, "--projects", options.projects];
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "teams-server.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [first] = (await once(child.stdout, "data")) as [Buffer];
    if (isPostgres) await askPostgres(database, "ANALYZE");
    for (const [at, name] of users.entries())
      await measureUser(String(first).trim(), `${isPostgres ? "PostgreSQL" : "SQLite"}, ${name}`, at + 1);
  } finally {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}

async function measureUser(address: string, name: string, user: number): Promise<void> {
  const areLast = user === users.length;
  const ask = (sort: string, more: Readonly<Record<string, string>> = {}): Promise<number> =>
    timeRequest(`${address}/tasks?limit=50&sort=${sort}`, { "x-user": String(user), ...more });
  const row: Record<string, string> = {};
  for (const sort of orders) {
    const isSlow = areLast && !sort.startsWith("-");
    row[sort] = await summarize(() => ask(sort), isSlow ? null : limits.p50, isSlow ? limits.slow : limits.p99);
  }
  row["exact count"] = await summarize(() => ask("id", { prefer: "count=exact" }), null, limits.slow);
  rows[name] = row;
  console.error(name, row);
}

/** Returns `p50 / p99` of many requests. Marks times above a limit. */
async function summarize(request: () => Promise<number>, p50Limit: number | null, p99Limit: number): Promise<string> {
  // The first requests compile code and fill caches.
  for (let warming = 0; warming < Math.min(10, requests); warming++) await request();
  const times: number[] = [];
  for (let sent = 0; sent < requests; sent++) times.push(await request());
  times.sort((one, other) => one - other);
  const [p50, p99] = [0.5, 0.99].map((share) => times[Math.ceil(share * times.length) - 1]!) as [number, number];
  const isExceeded = (p50Limit !== null && p50 > p50Limit) || p99 > p99Limit;
  if (isExceeded) exceeded++;
  return `${p50.toFixed(1)} / ${p99.toFixed(1)}${isExceeded ? " !" : ""}`;
}

/** Sends a request and reads its answer. Returns the time in milliseconds. */
async function timeRequest(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const begun = performance.now();
  const response = await fetch(url, { headers });
  const body = await response.text();
  const took = performance.now() - begun;
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body}`);
  return took;
}
