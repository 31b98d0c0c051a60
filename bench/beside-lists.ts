/**
 * What lists do to those who read: the latency of reading a user by id, quiet and while 4 clients of one ordinary user ask for
 * a list as fast as they are answered. The user has many orders, and there are many users. Everything on all cores. In the same rounds a bare
 * `node:http` server answers both with the bytes of the user: what the machine makes a reader wait, with three processes on its cores.
 */
import { execFile } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { parseArgs, promisify } from "node:util";
import { type ServiceProcess, startService } from "../tests/service-process.ts";
import type { Reads } from "./reads.ts";
import { type Load, type LoadResult, median } from "./round.ts";
import { prepareWriting } from "./scenarios.ts";
import { captureReply, onAnyCore, startBare } from "./servers.ts";

const options = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
    orders: { type: "string", default: "100000" },
    users: { type: "string", default: "1000000" },
    command: { type: "string", default: "dist/cli/latchkey.js" },
  },
});
const rounds = Number(options.values.rounds);
const seconds = Number(options.values.seconds);
const run = promisify(execFile);
/** The lists of the user, and those of the administrator. */
const lists = {
  own: [
    "/orders",
    "/orders?sort=-created_at",
    "/orders?status=paid&sort=created_at",
    "/orders?sort=-status,created_at",
  ],
  all: [
    "/users?limit=1",
    "/users?name[contains]=zzz",
    "/users?name[starts]=Person&sort=-email",
    "/orders?status[in]=open,paid&sort=-status",
  ],
};
const counted = { prefer: "count=exact" };

await using service = await startService({}, onAnyCore(options.values.command));
const { read } = await prepareWriting(service);
const own = await ordinaryUser(service, read.headers);
await using bare = await startBare(await captureReply(service.address, read), onAnyCore);
fill(service.file, own.id, Number(options.values.orders), Number(options.values.users));

const rows: Record<string, Record<string, string | number>> = {};
for (const path of lists.own) await measure(path, path, own.headers);
await measure("/orders, counted", "/orders", { ...own.headers, ...counted });
for (const path of lists.all) await measure(path, path, read.headers);
await measure("/users, counted", "/users", { ...read.headers, ...counted });
console.table(rows);
console.log(`Medians of ${rounds} rounds of ${seconds} s each, quiet and beside in turn. Node ${process.version}.`);

async function measure(name: string, path: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const reads: Reads = {
    address: service.address,
    path: read.path,
    headers: read.headers,
    clients: 4,
    perSecond: 400,
    seconds,
  };
  const bareReads: Reads = { ...reads, address: bare.address };
  const load: Load = { request: { path, headers }, status: 200, connections: 4, sleeps: true };
  const ratios: number[] = [];
  const found: Record<"quiet" | "beside" | "asked" | "bareBeside", LoadResult>[] = [];
  for (let round = 0; round <= rounds; round++) {
    const quiet = await ask<LoadResult>("bench/reads.ts", reads);
    const [beside, asked] = await besideLoad(reads, load);
    const [bareBeside] = await besideLoad(bareReads, load);
    // The first round warms up.
    if (round === 0) continue;
    found.push({ quiet, beside, asked, bareBeside });
    ratios.push(beside.p99Ms / quiet.p99Ms);
  }
  rows[name] = {
    "quiet p99 ms": median(found.map(({ quiet }) => quiet.p99Ms)).toFixed(2),
    "beside p99 ms": median(found.map(({ beside }) => beside.p99Ms)).toFixed(2),
    "bare beside": median(found.map(({ bareBeside }) => bareBeside.p99Ms)).toFixed(2),
    "p99 ratio": median(ratios).toFixed(1),
    target: "below 3",
    "lists a second": Math.round(median(found.map(({ asked }) => asked.requests)) / (seconds + 0.5)),
  };
}

async function besideLoad(reads: Reads, load: Load): Promise<readonly [LoadResult, LoadResult]> {
  const asking = ask<LoadResult>("bench/load.ts", { ...load, address: reads.address, seconds: seconds + 0.5 });
  const beside = await ask<LoadResult>("bench/reads.ts", reads);
  return [beside, await asking];
}

async function ask<T>(script: string, told: object): Promise<T> {
  const [file = "", ...args] = onAnyCore(script);
  return JSON.parse((await run(file, [...args, JSON.stringify(told)])).stdout) as T;
}

async function ordinaryUser(
  { address }: ServiceProcess,
  administrator: Readonly<Record<string, string>>,
): Promise<{ readonly id: number; readonly headers: Readonly<Record<string, string>> }> {
  const send = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<never> => {
    const reply = await fetch(`${address}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as never;
  };
  const [email, password] = ["much@example.com", "a password of the bench"];
  const { id } = await send("/users", { name: "Much", email, password }, administrator);
  const { access } = await send("/api/token/", { username: email, password });
  return { id, headers: { authorization: `Bearer ${String(access)}` } };
}

/** Rows as the service would have written them, in no time. */
function fill(file: string, userId: number, orders: number, users: number): void {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(`
    BEGIN;
    WITH RECURSIVE n (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM n WHERE n < ${users} + 999)
    INSERT INTO users (id, _revision, name, email, _email_folded)
    SELECT n, n, printf('Person %07d', n * 7919 % ${users}), printf('p%d@example.com', n), printf('p%d@example.com', n) FROM n;
    WITH RECURSIVE n (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM n WHERE n < ${orders} + 999)
    INSERT INTO orders (id, _revision, user_id, status, created_at)
    SELECT n, n, ${userId}, CASE n % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'paid' ELSE 'cancelled' END,
      strftime('%Y-%m-%dT%H:%M:%fZ', 1700000000 + n, 'unixepoch') FROM n;
    UPDATE latchkey_revision SET revision = ${users} + ${orders} + 2000;
    COMMIT`);
  database.close();
}
