/**
 * Measures how lists affect readers: the latency of reading a user by id, alone and while 4 clients request a list as
 * fast as they get responses. The 4 clients belong to a user with many orders, or to the administrator. All processes
 * use all cores. In the same rounds, a bare `node:http` server answers both kinds of requests with the same bytes,
 * which shows the delay that comes from the machine and its three busy processes. The process that measures has a
 * higher priority than the process that requests lists, so that it never waits for a core. `--against` measures another
 * build in the same rounds. The column `cores busy when quiet` shows whether other programs use the machine: if they
 * do, the figures are not reliable.
 */
import { execFile, spawnSync } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { type ServiceProcess, startService } from "../tests/harness/service-process.ts";
import type { Reads } from "./reads.ts";
import { type Load, type LoadResult, machineSeconds, median, quartiles, waitForRest, warming } from "./round.ts";
import { prepareWriting } from "./scenarios.ts";
import { captureReply, onAnyCore, startBareLists } from "./servers.ts";

const options = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    // One second would be too short: only 280 reads would count, and the p99 would be the third slowest of them.
    seconds: { type: "string", default: "3" },
    orders: { type: "string", default: "100000" },
    users: { type: "string", default: "1000000" },
    command: { type: "string", default: "dist/cli/latchkey.js" },
    against: { type: "string", default: "" },
    only: { type: "string", default: "" },
  },
});
const rounds = Number(options.values.rounds);
const seconds = Number(options.values.seconds);
/** `only` selects the lists whose names contain this text. Default: all. */
const { only, command, against } = options.values;
const run = promisify(execFile);
const canGiveWay = spawnSync("nice", ["-n", "19", "true"]).status === 0;
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
    "/users?limit=1000",
    "/users?name[contains]=zzz",
    "/users?name[starts]=Person&sort=-email",
    "/orders?status[in]=open,paid&sort=-status",
  ],
};
/** The load runs this much longer than the reads: it starts before the first read and ends after the last one. */
const HEAD_START_SECONDS = 0.6;
const counted = { prefer: "count=exact" };

await using stack = new AsyncDisposableStack();
const builds: Build[] = [];
for (const name of against === "" ? [command] : [command, against]) builds.push(await prepare(name));

const rows: Record<string, Record<string, string | number>> = {};
for (const path of lists.own) await measure(path, path, "own");
await measure("/orders, counted", "/orders", "own", counted);
for (const path of lists.all) await measure(path, path, "all");
await measure("/users, counted", "/users", "all", counted);
console.table(rows);
console.log(
  `p99 in ms: medians of ${rounds} rounds of ${seconds} s each, with the quartiles; quiet and beside in turn. Node ${process.version}.`,
);

/** A service with its rows. */
interface Build {
  readonly name: string;
  readonly service: ServiceProcess;
  readonly path: string;
  /** The header fields of the user and of the administrator. */
  readonly headers: Readonly<Record<keyof typeof lists, Readonly<Record<string, string>>>>;
}

async function prepare(name: string): Promise<Build> {
  // With this lifetime, the token outlives the measurement.
  const service = stack.use(await startService({ LATCHKEY_ACCESS_SECONDS: "7200" }, onAnyCore(name)));
  const { read } = await prepareWriting(service);
  const own = await ordinaryUser(service, read.headers);
  fill(service.file, own.id, Number(options.values.orders), Number(options.values.users));
  // The service indexes the words of rows from other programs afterwards, which uses a core for a minute.
  await waitForRest(service.pid);
  return { name, service, path: read.path, headers: { own: own.headers, all: read.headers } };
}

async function measure(name: string, path: string, who: keyof typeof lists, more = {}): Promise<void> {
  if (!name.includes(only)) return;
  const buildReads = (build: Build, address: string): Reads => ({
    address,
    path: build.path,
    headers: build.headers.all,
    clients: 4,
    perSecond: 400,
    seconds,
  });
  const buildLoad = (build: Build): Load => ({
    request: { path, headers: { ...build.headers[who], ...more } },
    status: 200,
    connections: 4,
    sleeps: true,
  });
  const [first] = builds as [Build];
  await using bare = await startBareLists({
    [first.path]: await captureReply(first.service.address, { path: first.path, headers: first.headers.all }),
    [path]: await captureReply(first.service.address, buildLoad(first).request),
  });
  const found = builds.map(() => ({
    quiet: [] as number[],
    beside: [] as number[],
    requests: [] as number[],
    busy: [] as number[],
  }));
  const besideBare: number[] = [];
  for (let round = 0; round < warming + rounds; round++) {
    for (const [at, build] of builds.entries()) {
      const reads = buildReads(build, build.service.address);
      const [startedAt, before] = [performance.now(), machineSeconds()];
      const quiet = await ask<LoadResult>("bench/reads.ts", reads);
      const busy = ((machineSeconds() - before) * 1000) / (performance.now() - startedAt);
      const [beside, listLoad] = await besideLoad(reads, buildLoad(build));
      if (round < warming) continue;
      found[at]!.busy.push(busy);
      found[at]!.quiet.push(quiet.p99Ms);
      found[at]!.beside.push(beside.p99Ms);
      found[at]!.requests.push(listLoad.requests);
    }
    const [alike] = await besideLoad(buildReads(first, bare.address), buildLoad(first));
    if (round >= warming) besideBare.push(alike.p99Ms);
  }
  for (const [at, { busy, quiet, beside, requests }] of found.entries())
    rows[at === 0 ? name : `${name}, ${builds[at]!.name}`] = {
      "cores busy when quiet": spread(busy),
      quiet: spread(quiet),
      beside: spread(beside),
      "beside bare": spread(besideBare),
      ratio: (median(beside) / median(quiet)).toFixed(1),
      target: "below 3",
      "lists a second": Math.round(median(requests) / (seconds + HEAD_START_SECONDS)),
    };
}

function spread(values: readonly number[]): string {
  const [low, middle, high] = quartiles(values).map((value) => value.toFixed(2));
  return `${middle} (${low}–${high})`;
}

async function besideLoad(reads: Reads, load: Load): Promise<readonly [LoadResult, LoadResult]> {
  const input = { ...load, address: reads.address, seconds: seconds + HEAD_START_SECONDS };
  const asking = ask<LoadResult>("bench/load.ts", input, canGiveWay ? ["nice", "-n", "19"] : []);
  await wait(250);
  const beside = await ask<LoadResult>("bench/reads.ts", reads);
  return [beside, await asking];
}

async function ask<T>(script: string, input: object, before: readonly string[] = []): Promise<T> {
  const [file = "", ...args] = [...before, ...onAnyCore(script)];
  return JSON.parse((await run(file, [...args, JSON.stringify(input)])).stdout) as T;
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

/** Writes rows into the database file directly, in the form in which the service stores them. */
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
