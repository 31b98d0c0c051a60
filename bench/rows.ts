/**
 * Measures the cost of a start, a creation, a deletion, a demotion and every permitted list, on both databases: first
 * with `--few` users and orders, then with `--many`. Creates the rows with SQL. The only administrator has the last id,
 * so that a full scan would be slow to find it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { createLatchkey, type Latchkey } from "../src/service/latchkey.ts";
import { readSettings } from "../src/service/settings/settings.ts";
import { startPostgres } from "../tests/harness/postgres.ts";
import { fill } from "./filling.ts";
import { median } from "./round.ts";

const { values: options } = parseArgs({
  options: {
    few: { type: "string", default: "10000" },
    many: { type: "string", default: "1000000" },
    database: { type: "string", default: "sqlite,postgres" },
  },
});
const folder = mkdtempSync(path.join(tmpdir(), "latchkey-rows-"));
const kinds = (options.database ?? "").split(",");
const counts = [Number(options.few), Number(options.many)];
const timings: Record<string, Record<string, string>> = {};

try {
  if (kinds.includes("sqlite")) await compare("SQLite", async (count) => `sqlite:${path.join(folder, `${count}.db`)}`);
  if (kinds.includes("postgres")) {
    // PostgreSQL's default. With the 16 MB of the tests, PostgreSQL would have to read the blocks of a large table
    // again for each page.
    const postgres = await startPostgres(["-c", "shared_buffers=128MB"]);
    try {
      await compare("PostgreSQL", () => postgres.makeDatabase());
    } finally {
      await postgres.stop();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.table(timings);

/** Measures with few rows and with many, and reports the lists that cost more than three times as much. */
async function compare(name: string, createDatabase: (count: number) => Promise<string>): Promise<void> {
  const [few, many] = counts as [number, number];
  const costs = await measure(`${name}, ${few}`, await createDatabase(few), few);
  const later = await measure(`${name}, ${many}`, await createDatabase(many), many);
  const calculateRatio = ([list, { ms }]: readonly [string, Cost]): number => ms / costs.get(list)!.ms;
  const served = [...later].filter(([, cost]) => cost.isServed);
  // A difference of less than a millisecond is noise.
  const dearer = [...later].filter((each) => calculateRatio(each) > 3 && each[1].ms - costs.get(each[0])!.ms > 1);
  const line = (each: readonly [string, Cost]): string =>
    `${each[0]}: ${costs.get(each[0])!.ms} → ${each[1].ms} ms (${calculateRatio(each).toFixed(1)})${each[1].isServed ? "" : ", no index serves it"}`;
  console.log(
    `${name}: ${later.size} lists, ${served.length} of them served by an index; median ratio of those ${median(served.map(calculateRatio)).toFixed(2)}. Above 3: ${dearer.length}`,
  );
  for (const each of dearer) console.log(`  ${line(each)}`);
}

/** The cost of a list. */
interface Cost {
  /** The smallest of several tries, because other programs use the machine. */
  readonly ms: number;
  readonly isServed: boolean;
}

async function collectCosts(service: Latchkey): Promise<ReadonlyMap<string, Cost>> {
  const costs = new Map<string, Cost>();
  for (let time = 0; time < 3; time++)
    for await (const page of service.explainLists())
      for (const { list, ms, served } of page)
        costs.set(list, { ms: Math.min(ms ?? Infinity, costs.get(list)?.ms ?? Infinity), isServed: served });
  return costs;
}

async function measure(name: string, database: string, count: number): Promise<ReadonlyMap<string, Cost>> {
  await (await start(database)).close();
  await fill(database, count);
  // The first start afterwards checks the new rows, so it is not measured.
  await (await start(database)).close();
  const starts = await times(5, async () => {
    const begun = performance.now();
    const service = await start(database);
    const took = performance.now() - begun;
    await service.close();
    return took;
  });
  const service = await start(database);
  const headers = {
    authorization: `Basic ${Buffer.from("admin:for this benchmark only").toString("base64")}`,
    "content-type": "application/json",
  };
  const ask = async (method: string, target: string, body?: unknown): Promise<number> => {
    const begun = performance.now();
    const answer = await service.fetch(
      new Request(`http://127.0.0.1${target}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: "127.0.0.1" },
    );
    if (!answer.ok) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
    return performance.now() - begun;
  };
  await ask("GET", "/users?limit=1");
  const costs = await collectCosts(service);
  const creates = await times(50, (at) =>
    ask("POST", "/users", { name: "New", email: `${name}-${at}@example.org`.replaceAll(/[ ,]/g, "") }),
  );
  // Deletes users with even ids from 4, because these users have no orders. User 2 has half of all orders.
  const deletes = await times(50, (at) => ask("DELETE", `/users/${at * 2 + 4}`));
  const demotions = await times(50, async (at) => {
    await ask("PATCH", `/users/${at * 2 + 201}/account`, { role: "admin" });
    return ask("PATCH", `/users/${at * 2 + 201}/account`, { role: "user" });
  });
  await service.close();
  timings[name] = { "start ms": starts, "create ms": creates, "delete ms": deletes, "demote ms": demotions };
  console.log(name, timings[name]);
  return costs;
}

function start(database: string): Promise<Latchkey> {
  return createLatchkey({
    settings: readSettings({
      LATCHKEY_DATABASE: database,
      LATCHKEY_SECRET: "a secret for as long as the benchmark runs",
      LATCHKEY_ADMIN_PASSWORD: "for this benchmark only",
    }),
  });
}

async function times(count: number, work: (at: number) => Promise<number>): Promise<string> {
  const took: number[] = [];
  for (let at = 0; at < count; at++) took.push(await work(at));
  return median(took).toFixed(2);
}
