import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Secret } from "../../src/core/crypto/secret.ts";
import {
  inspectPostgres,
  migratePostgres,
  migrateSQLite,
  postgresStore,
  sqliteStore,
  tryPostgres,
  trySQLite,
  type Store,
} from "../../src/door/stores.ts";
import { before, now } from "../harness/migrating.ts";
import { askPostgres, startPostgres } from "../harness/postgres.ts";

/** The number of rows, of kills of the migration, and of writers. `npm run verify -- migrations` uses more. */
const rows = Number(process.env["MIGRATION_ROWS"] ?? 800);
const kills = Number(process.env["MIGRATION_KILLS"] ?? 2);
const writers = Number(process.env["MIGRATION_WRITERS"] ?? 4);
/** The maximum time before the migration is killed, in milliseconds. */
const life = Number(process.env["MIGRATION_LIFE_MS"] ?? 900);

interface TestDatabase {
  readonly engine: "sqlite" | "postgres";
  readonly address: string;
  open(): Store;
  /** Fills the old table: row n has the price n. */
  fill(): Promise<void>;
  /** Returns the remains of dry runs. */
  findTries(): Promise<readonly unknown[]>;
}

async function places(t: TestContext): Promise<readonly TestDatabase[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-kills-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "things.db");
  const server = await startPostgres();
  t.after(() => server.stop());
  const address = await server.makeDatabase();
  const values = (series: string): string =>
    `INSERT INTO things (id, _revision, title, price, note) SELECT n, n, 'title ' || n, n, 'a note of the row ' || n FROM ${series}`;
  return [
    {
      engine: "sqlite",
      address: `sqlite:${file}`,
      open: () => sqliteStore({ path: file }),
      async fill() {
        const database = new DatabaseSync(file, { timeout: 5000 });
        database.exec(
          `WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${rows}) ${values("series")}`.replace(
            /^(WITH .*?\)) (INSERT INTO \S+ \(.*?\)) /s,
            "$2 $1 ",
          ),
        );
        database.exec(
          `UPDATE latchkey_revision SET revision = ${rows}; INSERT INTO latchkey_keys VALUES ('things', ${rows + 1})`,
        );
        database.close();
      },
      findTries: async () => readdirSync(folder).filter((name) => name.includes(".try-")),
    },
    {
      engine: "postgres",
      address,
      open: () => postgresStore({ url: new Secret(address), poolSize: 8 }),
      async fill() {
        await askPostgres(
          address,
          `${values(`generate_series(1, ${rows}) AS n`)};
           SELECT setval('latchkey_revision', ${rows}); SELECT setval('"things(id) next"', ${rows}); ANALYZE things`,
        );
      },
      findTries: () => askPostgres(address, "SELECT nspname FROM pg_namespace WHERE nspname LIKE '%try%'"),
    },
  ];
}

/**
 * Starts many writers, which change the price of random rows and add rows. The ledger contains the acknowledged writes.
 */
function startWriting(store: Store): {
  readonly ledger: Map<number, number>;
  readonly times: number[];
  stop(): Promise<void>;
} {
  const ledger = new Map<number, number>();
  const times: number[] = [];
  let isOver = false;
  let next = 1_000_000_000;
  const write = async (writer: number): Promise<void> => {
    while (!isOver) {
      // Each writer changes separate rows. So the last acknowledged value of a row is the value in the database.
      const key = Math.floor((Math.random() * rows) / writers) * writers + writer + 1;
      const price = next++;
      const isNew = Math.random() < 0.1 || key > rows;
      const start = performance.now();
      const written = await store.write({
        changes: isNew
          ? [{ kind: "insert", collection: before, values: { title: `new ${price}`, price } }]
          : [{ kind: "update", collection: before, key, values: { price } }],
      });
      times.push(performance.now() - start);
      assert.equal(written.kind, "written");
      if (written.kind === "written") ledger.set(isNew ? (written.rows[0]!.record["id"] as number) : key, price);
    }
  };
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  all.catch(() => undefined);
  return {
    ledger,
    times,
    async stop() {
      isOver = true;
      await all;
    },
  };
}

/** Starts a dry run of the migration in a separate process, which kills itself during the first rows. */
async function tryKilled(address: string): Promise<void> {
  const file = path.join(import.meta.dirname, "../harness/migrating.ts");
  const child = spawn(process.execPath, [file, address, "try"], { stdio: "ignore" });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  assert.equal(signal, "SIGKILL");
  await waitForLock(address);
}

/** Waits until a killed process has lost its lock. PostgreSQL notices a lost client only when its statement ends. */
async function waitForLock(address: string): Promise<void> {
  const locks =
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
  while (!address.startsWith("sqlite:") && (await askPostgres(address, locks)).length > 0) await sleep(20);
}

/**
 * Runs the migration in a separate process, which is killed after `killedAfter` milliseconds. Returns its output, or
 * null after a kill.
 */
async function migrate(address: string, killedAfter: number | null): Promise<string | null> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "../harness/migrating.ts"), address], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stdout.on("data", (text: Buffer) => (said += String(text)));
  child.stderr.on("data", (text: Buffer) => (said += String(text)));
  const ended = once(child, "close");
  if (killedAfter !== null) {
    await Promise.race([sleep(killedAfter), ended]);
    child.kill("SIGKILL");
  }
  const [code] = (await ended) as [number | null];
  if (code === null) {
    await waitForLock(address);
    return null;
  }
  assert.equal(code, 0, said);
  return said;
}

function p99(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? 0;
}

function longest(times: readonly number[]): number {
  return times.reduce((most, time) => Math.max(most, time), 0);
}

test(`migrates ${rows} rows while ${writers} clients write, is killed up to ${kills} times, and neither loses nor invents data`, async (t) => {
  for (const place of (await places(t)).filter(
    ({ engine }) => (process.env["MIGRATION_ENGINE"] ?? engine) === engine,
  )) {
    const store = place.open();
    await store.open([before]);
    await place.fill();
    const quiet = startWriting(store);
    await sleep(Math.min(rows, 3000));
    await quiet.stop();
    const busy = startWriting(store);
    let killed = 0;
    let last: string | null = null;
    for (let at = 0; at < kills && last === null; at++) {
      last = await migrate(place.address, 300 + Math.random() * life);
      if (last === null) killed++;
    }
    // A run may finish before its kill. Otherwise, one more run finishes the migration.
    const isDone = last !== null;
    const ending = isDone ? Promise.resolve(last) : migrate(place.address, null);
    // The old program continues until it notices the changed table. From then on, its writes are refused, and none is
    // lost.
    await Promise.race([ending, stopped(busy)]);
    last = await ending;
    await busy.stop().catch(() => undefined);
    await store.close();

    t.diagnostic(
      `${place.engine}: killed ${killed} times; before the migration: ${quiet.times.length} writes, p99 ${p99(quiet.times).toFixed(1)} ms, longest ${longest(quiet.times).toFixed(0)} ms; during the migration: ${busy.times.length} writes, p99 ${p99(busy.times).toFixed(1)} ms, longest ${longest(busy.times).toFixed(0)} ms; ${String(last).trim()}`,
    );
    const after = place.open();
    await after.open([now]);
    await verify(after, new Map([...quiet.ledger, ...busy.ledger]));
    await after.close();
  }
});

/** Waits until no write has succeeded for two seconds, because the changed table refuses them. */
async function stopped(busy: { stop(): Promise<void>; readonly times: readonly number[] }): Promise<void> {
  for (let seen = -1; seen !== busy.times.length; await sleep(2000)) seen = busy.times.length;
}

/** Asserts that every row has its last acknowledged value, in its new form. */
async function verify(store: Store, ledger: ReadonlyMap<number, number>): Promise<void> {
  let seen = 0;
  for (let behind = 0; ;) {
    const page = await store.list({
      collection: now,
      where: { column: "id", operator: "gt", value: behind },
      sort: [{ column: "id" }],
      limit: 1000,
    });
    for (const { record } of page) {
      const id = record["id"] as number;
      const price = ledger.get(id) ?? id;
      const name = id <= rows ? `title ${id}` : `new ${price}`;
      const note = id <= rows ? `a note of the row ${id}` : null;
      const kind = price % 2 === 0 ? "even" : "odd";
      assert.deepEqual(record, { id, name, price: `${price}.50`, note, kind });
      seen++;
    }
    if (page.length === 0) break;
    behind = page.at(-1)!.record["id"] as number;
  }
  assert.equal(seen, rows + [...ledger.keys()].filter((id) => id > rows).length);
}

test("removes the remains of a killed dry run with the next dry run, and with a migration", async (t) => {
  const options = { program: "0.1.0" };
  for (const { engine, address, open, fill, findTries } of await places(t)) {
    const store = open();
    await store.open([before]);
    await store.close();
    await fill();
    const file = address.replace("sqlite:", "");
    const url = new Secret(address);

    await tryKilled(address);
    assert.equal((await findTries()).length, 1);
    if (engine === "postgres") assert.deepEqual([...(await inspectPostgres(url)).keys()], []);
    await (engine === "sqlite" ? trySQLite(file, [now], options) : tryPostgres(url, [now], options));
    assert.deepEqual(await findTries(), []);

    await tryKilled(address);
    await (engine === "sqlite" ? migrateSQLite(file, [now], options) : migratePostgres(url, [now], options));
    assert.deepEqual(await findTries(), []);
  }
});

test("ignores files of other programs whose names begin like those of a dry run", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-tries-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "some.db");
  const store = sqliteStore({ path: file });
  await store.open([before]);
  await store.close();
  const others = ["some.db.try-second", path.join("some.db.try-photos", "one.png")];
  mkdirSync(path.join(folder, "some.db.try-photos"));
  for (const name of others) writeFileSync(path.join(folder, name), "mine");

  await trySQLite(file, [now], { program: "0.1.0" });
  await migrateSQLite(file, [now], { program: "0.1.0" });

  for (const name of others) assert.equal(readFileSync(path.join(folder, name), "utf8"), "mine");
});

const isRoot = process.getuid?.() === 0;
test(
  "ignores the remains of a dry run of another user",
  { skip: !isRoot && "only root can act as another user" },
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), "latchkey-tries-"));
    t.after(() => rmSync(folder, { recursive: true }));
    chmodSync(folder, 0o777);
    const left = path.join(folder, "some.db.try-abc123");
    mkdirSync(left, { mode: 0o700 });
    process.seteuid!(65_534);
    t.after(() => process.seteuid!(0));
    const file = path.join(folder, "some.db");
    const store = sqliteStore({ path: file });
    await store.open([before]);
    await store.close();

    await trySQLite(file, [now], { program: "0.1.0" });
    process.seteuid!(0);

    assert.deepEqual(readdirSync(left), []);
  },
);
