/**
 * How long a write waits while rows that have run out are erased beside it, and how long by itself: `--rows` of each of the tables that `--tables` names, on both
 * databases, and one client that writes all the time. The rows are made with SQL. `--folder` is where SQLite's file is made (`/dev/shm`: a disk
 * that syncs at once); with `--sync-ms` each of its syncs takes that much longer (Linux; needs `gcc`).
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
import type { Collection } from "../src/door/stores.ts";
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
/** For so long the same client is alone, or for as long as it took, where that is less. */
const aloneMs = 120_000;

try {
  if (options.databases.includes("SQLite")) {
    const file = path.join(folder, "latchkey.db");
    await measure("SQLite", `sqlite:${file}`, async (sql) => {
      const database = new DatabaseSync(file);
      database.exec(
        `PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; ${sql}; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)`,
      );
      database.close();
    });
  }
  if (postgres !== null) {
    const url = await postgres.makeDatabase();
    await measure("PostgreSQL", url, async (sql) => {
      await askPostgres(url, `SET session_replication_role = replica; ${sql}; ANALYZE`);
    });
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
  const given = ["--rows", options.rows, "--tables", options.tables, "--databases", "SQLite", "--folder", disk.folder];
  const env = { ...process.env, ...disk.environment };
  return spawnSync(process.execPath, [import.meta.filename, ...given], { env, stdio: "inherit" }).status ?? 1;
}

async function measure(name: string, database: string, run: (sql: string) => Promise<void>): Promise<void> {
  // It makes the tables.
  await (await open(database)).close();
  for (const collection of wanted) {
    await run(fill(collection, name === "SQLite"));
    const service = await open(database);
    const start = performance.now();
    const past = { column: "at", operator: "lte", value: 2 } as const;
    const expired = { column: "expires_at", operator: "lte", value: "2001-01-02T00:00:00.000Z" } as const;
    const where = collection.columns.some(({ name }) => name === "at") ? past : expired;
    const isDone = async () => (await service.store.list({ collection, where, sort: [], limit: 1 })).length === 0;
    const told = await writeUntil(service, mostMs, isDone);
    const tookMs = performance.now() - start;
    const left = await service.store.count(collection, where);
    // The same client on the same disk for as long, with nothing to erase: what it waits for then is not the erasing.
    const alone = await writeUntil(service, Math.min(tookMs, aloneMs), async () => false);
    rows[`${name}, ${collection.name}, alone`] = alone;
    rows[`${name}, ${collection.name}`] = { ...told, erased: count - left, "in s": Math.round(tookMs / 1000) };
    for (const suffix of [", alone", ""])
      console.log(name, collection.name + suffix, rows[`${name}, ${collection.name}${suffix}`]);
    await service.close();
  }
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

/** Writes one after another, as one client would. */
async function writeUntil(
  { store }: Latchkey,
  mostMs: number,
  isDone: () => Promise<boolean>,
): Promise<Record<string, number>> {
  const times: number[] = [];
  const begun = performance.now();
  for (let at = 0; performance.now() - begun < mostMs; at++) {
    const start = performance.now();
    const values = { expires_at: "2999-01-01T00:00:00.000Z" };
    await store.write({
      changes: [{ kind: "insert", collection: deadFamiliesCollection, key: `${begun} ${at}`, values }],
    });
    times.push(performance.now() - start);
    if (at % 50 === 49 && (await isDone())) break;
    await wait(1);
  }
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10;
  return {
    writes: sorted.length,
    "median ms": at(0.5),
    "p99 ms": at(0.99),
    "worst ms": at(1),
    "over 50 ms": sorted.filter((ms) => ms > 50).length,
  };
}

/** Rows of which every one has run out long ago, with keys in no order, as digests are. */
function fill({ name, key, columns }: Collection, isSQLite: boolean): string {
  const text = isSQLite ? "lower(hex(randomblob(16)))" : "md5(random()::text || n)";
  const value = (column: Collection["columns"][number]): string => {
    if (column.nullable === true) return "NULL";
    if (column.type === "date-time") return `'2001-01-01T00:00:00.000Z'`;
    return column.type === "integer" ? "1" : text;
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
