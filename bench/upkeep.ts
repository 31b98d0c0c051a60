/**
 * How long a write waits while rows that have run out are erased beside it, and how long by itself: `--rows` of each of the tables that `--tables` names, on both
 * databases, and one client that writes all the time. The two are measured in turn, five seconds each, so that whatever slows the disk
 * slows both: beside the erasing, and in another database of the same disk where nothing has run out. The rows are made with SQL. `--folder` is
 * where SQLite's files are made (`/dev/shm`: a disk that syncs at once); with `--sync-ms` each of its syncs takes that much longer (Linux; needs `gcc`).
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  deadFamiliesCollection,
  familiesCollection,
  refreshUsesCollection,
  revocationsCollection,
  sessionsCollection,
} from "../src/door/auth.ts";
import type { Collection, Where } from "../src/door/stores.ts";
import { createLatchkey, type Latchkey } from "../src/service/latchkey.ts";
import { readSettings } from "../src/service/settings/settings.ts";
import { guessStreaksCollection, knownAddressesCollection } from "../src/throttle/records.ts";
import { guessesCollection } from "../src/throttle/window.ts";
import { askPostgres, startPostgres } from "../tests/postgres.ts";
import { makeFaultyDisk } from "../tools/disk/faults.ts";

const all = [
  refreshUsesCollection,
  deadFamiliesCollection,
  familiesCollection,
  revocationsCollection,
  sessionsCollection,
  guessesCollection,
  guessStreaksCollection,
  knownAddressesCollection,
];
const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    tables: { type: "string", default: all.map(({ name }) => name).join(",") },
    databases: { type: "string", default: "SQLite,PostgreSQL" },
    folder: { type: "string", default: tmpdir() },
    "sync-ms": { type: "string" },
    "most-s": { type: "string", default: "900" },
  },
});
const count = Number(options.rows);
const wanted = all.filter(({ name }) => options.tables.split(",").includes(name));
if (options["sync-ms"] !== undefined) process.exit(onSlowDisk(Number(options["sync-ms"])));
const folder = mkdtempSync(path.join(options.folder, "latchkey-upkeep-"));
const postgres = options.databases.includes("PostgreSQL") ? await startPostgres() : null;
const rows: Record<string, Record<string, string | number>> = {};
/** What is not erased by then is told. */
const mostMs = Number(options["most-s"]) * 1000;
/** For so long it is measured at a time. */
const turnMs = 5000;

try {
  // A database for each: what is left of one would be erased beside the next.
  for (const collection of wanted) {
    if (options.databases.includes("SQLite")) {
      const [file, other] = [path.join(folder, `${collection.name}.db`), path.join(folder, "other.db")];
      await measure("SQLite", collection, [`sqlite:${file}`, `sqlite:${other}`], async (sql) => {
        const database = new DatabaseSync(file);
        database.exec(
          `PRAGMA cache_size = -800000; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; ${sql}; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)`,
        );
        database.close();
      });
      rmSync(file);
    }
    if (postgres !== null) {
      const [url, other] = [await postgres.makeDatabase(), await postgres.makeDatabase()];
      await measure("PostgreSQL", collection, [url, other], async (sql) => {
        await askPostgres(url, `SET session_replication_role = replica; ${sql}; ANALYZE`);
      });
    }
  }
} finally {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);

/** The same on a disk that syncs slowly, which has to be there before the process starts. Gives its exit code. */
function onSlowDisk(syncMs: number): number {
  using disk = makeFaultyDisk();
  disk.slow(syncMs);
  const given = (["rows", "tables", "most-s"] as const).flatMap((name) => [`--${name}`, options[name]]);
  const env = { ...process.env, ...disk.environment };
  const args = [import.meta.filename, ...given, "--databases", "SQLite", "--folder", disk.folder];
  return spawnSync(process.execPath, args, { env, stdio: "inherit" }).status ?? 1;
}

async function measure(
  name: string,
  collection: Collection,
  [database, other]: readonly [string, string],
  run: (sql: string) => Promise<void>,
): Promise<void> {
  // It makes the tables.
  for (const each of [database, other]) await (await open(each)).close();
  await run(fill(collection, name === "SQLite"));
  const past = { column: "at", operator: "lte", value: count } as const;
  const column = collection === familiesCollection ? "idle_until" : "expires_at";
  const expired = { column, operator: "lte", value: "2002-01-01T00:00:00.000Z" } as const;
  const where = collection.columns.some(({ name }) => name === "at") ? past : expired;
  const [alone, beside]: [number[], number[]] = [[], []];
  let [left, tookMs] = [count, 0];
  while (left > 0 && tookMs < mostMs) {
    alone.push(...(await writeFor(other, async () => false)).times);
    const turn = await writeFor(database, async ({ store }) => {
      return (await store.list({ collection, where, sort: [], limit: 1 })).length === 0;
    });
    beside.push(...turn.times);
    tookMs += turn.tookMs;
    left = await countIn(database, collection, where);
  }
  rows[`${name}, ${collection.name}, alone`] = summary(alone);
  const erased = { erased: count - left, "in s": Math.round(tookMs / 1000) };
  rows[`${name}, ${collection.name}`] = { ...summary(beside), ...erased };
  for (const suffix of [", alone", ""])
    console.log(name, collection.name + suffix, rows[`${name}, ${collection.name}${suffix}`]);
}

async function countIn(database: string, collection: Collection, where: Where): Promise<number> {
  const service = await open(database);
  const found = await service.store.count(collection, where);
  await service.close();
  return found;
}

function open(database: string): Promise<Latchkey> {
  return createLatchkey({
    settings: readSettings({
      LATCHKEY_DATABASE: database,
      LATCHKEY_SECRET: "a secret for as long as the benchmark runs",
      LATCHKEY_ADMIN_PASSWORD: "for this benchmark only",
    }),
  });
}

/** Writes one after another for a turn, as one client would. The first write starts the thread that writes, and is not counted. */
async function writeFor(
  database: string,
  isDone: (service: Latchkey) => Promise<boolean>,
): Promise<{ readonly times: readonly number[]; readonly tookMs: number }> {
  const service = await open(database);
  const times: number[] = [];
  const begun = performance.now();
  for (let at = 0; performance.now() - begun < turnMs; at++) {
    const start = performance.now();
    const values = { expires_at: "2999-01-01T00:00:00.000Z" };
    await service.store.write({
      changes: [{ kind: "insert", collection: deadFamiliesCollection, key: `${begun} ${at}`, values }],
    });
    times.push(performance.now() - start);
    if (at % 50 === 49 && (await isDone(service))) break;
    await wait(1);
  }
  const tookMs = performance.now() - begun;
  await service.close();
  return { times: times.slice(1), tookMs };
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

/** Rows of which every one has run out long ago, one after another, with keys and references in no order: so none lies beside the next in more than one index. */
function fill({ name, key, columns }: Collection, isSQLite: boolean): string {
  const text = isSQLite ? "lower(hex(randomblob(16)))" : "md5(random()::text || n)";
  const at = isSQLite
    ? "strftime('%Y-%m-%dT%H:%M:%fZ', 978307200 + n, 'unixepoch')"
    : "to_timestamp(978307200 + n) AT TIME ZONE 'UTC'";
  const value = (column: Collection["columns"][number]): string => {
    if (column.nullable === true) return "NULL";
    if (column.type === "date-time") return isSQLite ? at : `to_char(${at}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    if (column.name === "at") return "n";
    return column.type === "integer" ? (isSQLite ? "abs(random() % 100000)" : "floor(random() * 100000)") : text;
  };
  const series = isSQLite
    ? `WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${count})`
    : `WITH series(n) AS (SELECT generate_series(1, ${count}))`;
  const names = ["id", "_revision", ...columns.map((column) => column.name)].map((each) => `"${each}"`).join(", ");
  const cells = [key === "integer" ? "n" : text, "1", ...columns.map(value)].join(", ");
  return `${series} INSERT INTO "${name}" (${names}) SELECT ${cells} FROM series`.replace(
    /^(.*?\)) (INSERT INTO .*?\)) SELECT/s,
    "$2 $1 SELECT",
  );
}
