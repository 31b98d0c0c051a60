/**
 * Measures how long a write takes while the service deletes expired rows, compared with a database without expired rows
 * on the same disk. One client writes all the time. The two databases are measured in turn, five seconds each, so that
 * a slow disk affects both. `--tables` lists the kinds of expired data, and `--rows` is the number of rows of each
 * kind, on SQLite and on PostgreSQL. SQL creates the rows, and all of them are on the disk before the first
 * measurement. `--most-s` is the maximum duration for each kind, in seconds. `--folder` is the folder of SQLite's files
 * (`/dev/shm`: a disk that syncs immediately). `--sync-ms` makes each sync of these files longer by this time (Linux,
 * needs `gcc`).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { rateLimits } from "../src/door/features.ts";
import { createLatchkey, type Latchkey } from "../src/service/latchkey.ts";
import { readSettings } from "../src/service/settings/settings.ts";
import { askPostgres, startPostgres } from "../tests/harness/postgres.ts";
import { makeFaultyDisk } from "../tools/disk/faults.ts";
import { kinds, plainWrite, type Kind } from "./run-out.ts";

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    tables: { type: "string", default: kinds.map(({ name }) => name).join(",") },
    databases: { type: "string", default: "SQLite,PostgreSQL" },
    folder: { type: "string", default: tmpdir() },
    "sync-ms": { type: "string" },
    "most-s": { type: "string", default: "900" },
  },
});
const count = Number(options.rows);
const wanted = kinds.filter(({ name }) => options.tables.split(",").includes(name));
if (options["sync-ms"] !== undefined) process.exit(onSlowDisk(Number(options["sync-ms"])));
const folder = mkdtempSync(path.join(options.folder, "latchkey-upkeep-"));
// With the settings of a new installation, because `startPostgres` turns syncing off by default.
const postgres = options.databases.includes("PostgreSQL")
  ? await startPostgres(["-c", "fsync=on", "-c", "shared_buffers=128MB"])
  : null;
const rows: Record<string, Record<string, string | number>> = {};
/** The maximum duration for each kind of data. The table shows the number of rows that were deleted by then. */
const mostMs = Number(options["most-s"]) * 1000;
/** The time for which one of the two databases is measured before the other follows, in milliseconds. */
const turnMs = 5000;

/** A database with functions to fill it and to count its rows. */
interface Filled {
  readonly url: string;
  run(sql: string): Promise<void>;
  count(sql: string): Promise<number>;
}

try {
  // A separate database for each kind, so that the next measurement does not delete rows that the last one left.
  for (const kind of wanted) {
    if (options.databases.includes("SQLite") && kind.engines.includes("SQLite")) {
      const file = path.join(folder, `${kind.name}.db`);
      await measure("SQLite", kind, wrapFile(file), `sqlite:${path.join(folder, "other.db")}`);
      rmSync(file);
    }
    if (postgres !== null && kind.engines.includes("PostgreSQL")) {
      const url = await postgres.makeDatabase();
      await measure("PostgreSQL", kind, wrapDatabase(url), await postgres.makeDatabase());
      // Empties the table. Otherwise, its autovacuum would continue during the next measurement.
      await askPostgres(url, `TRUNCATE "${kind.left.table}" CASCADE`);
    }
  }
} finally {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);

/**
 * Runs this program in a child process on a disk that syncs slowly. The disk must be ready before the process starts.
 * Returns the exit code.
 */
function onSlowDisk(syncMs: number): number {
  using disk = makeFaultyDisk();
  disk.slow(syncMs);
  const passedOptions = (["rows", "tables", "most-s"] as const).flatMap((name) => [`--${name}`, options[name]]);
  const env = { ...process.env, ...disk.environment };
  const args = [import.meta.filename, ...passedOptions, "--databases", "SQLite", "--folder", disk.folder];
  return spawnSync(process.execPath, args, { env, stdio: "inherit" }).status ?? 1;
}

function wrapFile(file: string): Filled {
  const use = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(file);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    url: `sqlite:${file}`,
    run: async (sql) =>
      use((database) =>
        database.exec(
          `PRAGMA cache_size = -800000; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; ${sql}; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)`,
        ),
      ),
    count: async (sql) => use((database) => (database.prepare(sql).get() as { readonly n: number }).n),
  };
}

function wrapDatabase(url: string): Filled {
  return {
    url,
    async run(sql) {
      await askPostgres(url, `SET session_replication_role = replica; ${sql}`);
      for (const each of ["VACUUM ANALYZE", "CHECKPOINT"]) await askPostgres(url, each);
    },
    count: async (sql) => Number((await askPostgres(url, sql))[0]!["n"]),
  };
}

async function measure(name: string, kind: Kind, database: Filled, other: string): Promise<void> {
  // The service creates the tables at its start.
  for (const each of [database.url, other]) await (await open(each)).close();
  await database.run(kind.fill(count, name === "SQLite"));
  spawnSync("sync");
  const [alone, beside]: [number[], number[]] = [[], []];
  let [left, tookMs] = [count, 0];
  while (left > 0 && tookMs < mostMs) {
    alone.push(...(await writeFor(other, kind, async () => false)).times);
    const turn = await writeFor(database.url, kind, async ({ store }) => {
      if (kind.due === null) return false;
      return (await store.list({ ...kind.due, sort: [], limit: 1 })).length === 0;
    });
    beside.push(...turn.times);
    tookMs += turn.tookMs;
    left = await database.count(`SELECT count(*) AS n FROM "${kind.left.table}" WHERE ${kind.left.condition}`);
  }
  rows[`${name}, ${kind.name}, alone`] = summary(alone);
  const erased = { erased: count - left, "in s": Math.round(tookMs / 1000) };
  rows[`${name}, ${kind.name}`] = { ...summary(beside), ...erased };
  for (const suffix of [", alone", ""])
    console.log(name, kind.name + suffix, JSON.stringify(rows[`${name}, ${kind.name}${suffix}`]));
}

function open(database: string): Promise<Latchkey> {
  return createLatchkey({
    settings: readSettings({
      LATCHKEY_DATABASE: database,
      LATCHKEY_SECRET: "a secret for as long as the benchmark runs",
      LATCHKEY_ADMIN_PASSWORD: "for this benchmark only",
    }),
    config: {
      features: [rateLimits({ limits: [{ name: "all", by: "address", limit: 1000, windowSeconds: 60 }] })],
    },
  });
}

/**
 * Writes again and again, as one client would, until the time is over or `isDone` returns true. The first write starts
 * the thread that writes, and is not counted.
 */
async function writeFor(
  database: string,
  kind: Kind,
  isDone: (service: Latchkey) => Promise<boolean>,
): Promise<{ readonly times: readonly number[]; readonly tookMs: number }> {
  const service = await open(database);
  const times: number[] = [];
  const begun = performance.now();
  await service.store.write(plainWrite(`${begun}`));
  for (let at = 0; performance.now() - begun < turnMs; at++) {
    const start = performance.now();
    await service.store.write(kind.write(`${begun} ${at}`));
    times.push(performance.now() - start);
    if (at % 50 === 49 && (await isDone(service))) break;
    await wait(1);
  }
  const tookMs = performance.now() - begun;
  await service.close();
  return { times, tookMs };
}

function summary(times: readonly number[]): Record<string, number> {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10;
  return {
    writes: sorted.length,
    "median ms": at(0.5),
    "p99 ms": at(0.99),
    "p99.9 ms": at(0.999),
    "worst ms": at(1),
    "over 50 ms": sorted.filter((ms) => ms > 50).length,
  };
}
