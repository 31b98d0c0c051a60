import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Secret } from "../../src/core/crypto/secret.ts";
import { postgresStore, sqliteStore } from "../../src/door/stores.ts";
import { command } from "../../tests/harness/command.ts";
import { askPostgres, startPostgres } from "../../tests/harness/postgres.ts";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";
import {
  beginning,
  bodyBehind,
  carried,
  changes,
  droppedBetween,
  leftWithout,
  mountsBehind,
  type Shown,
} from "./versions.ts";

/** The number of rows, the changes per release, the concurrent writers, and the kills of each migration. */
const rows = Number(process.env["REPLAY_ROWS"] ?? 500);
const step = Number(process.env["REPLAY_STEP"] ?? 10);
const writers = Number(process.env["REPLAY_WRITERS"] ?? 4);
const kills = Number(process.env["REPLAY_KILLS"] ?? 1);
const engines = (process.env["REPLAY_ENGINES"] ?? "sqlite,postgres").split(",");

/** The database and the config files of the product. */
interface Home {
  readonly database: string;
  /** Returns a folder with the config file of the product after this many changes. */
  createFolder(count: number): string;
  fill(): Promise<void>;
}

async function homeOn(t: TestContext, engine: string): Promise<Home> {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-replay-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const createFolder = (count: number): string => {
    const made = mkdtempSync(path.join(folder, `behind-${count}-`));
    const versions = pathToFileURL(path.join(import.meta.dirname, "versions.ts")).href;
    writeFileSync(
      path.join(made, "latchkey.config.ts"),
      `import { mountsBehind } from "${versions}";\nexport default { mounts: mountsBehind(${count}) };\n`,
    );
    return made;
  };
  if (engine === "sqlite") {
    const file = path.join(folder, "latchkey.db");
    return { database: `sqlite:${file}`, createFolder, fill: async () => fillFile(file) };
  }
  const server = await startPostgres();
  t.after(() => server.stop());
  const database = await server.makeDatabase();
  return { database, createFolder, fill: () => fillDatabase(database) };
}

/** The columns and values of the first rows, in SQL with a number `n`. */
const columns = "id, _revision, title, price, state, isbn, pages, lang, note, shelf_id";
const values =
  "n, n, 'Title ' || n, n % 1000, CASE n % 3 WHEN 0 THEN 'draft' WHEN 1 THEN 'new' ELSE 'sold' END, 'isbn-' || n, n % 700, 'en', " +
  "CASE WHEN n % 2 = 0 THEN NULL ELSE 'a note of ' || n END, CASE WHEN n % 5 = 0 THEN NULL ELSE n % 3 + 1 END";

function fillFile(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(
    `BEGIN; INSERT INTO shelves (id, _revision, name) VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
     INSERT INTO books (${columns}) WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${rows}) SELECT ${values} FROM series;
     UPDATE latchkey_revision SET revision = revision + ${rows};
     INSERT INTO latchkey_keys VALUES ('books', ${rows + 1}), ('shelves', 4) ON CONFLICT DO UPDATE SET next = excluded.next; COMMIT`,
  );
  database.close();
}

async function fillDatabase(url: string): Promise<void> {
  await askPostgres(
    url,
    `INSERT INTO shelves (id, _revision, name) VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
     INSERT INTO books (${columns}) SELECT ${values} FROM generate_series(1, ${rows}) AS n;
     SELECT setval('latchkey_revision', ${rows + 1000}); SELECT setval('"books(id) next"', ${rows}); SELECT setval('"shelves(id) next"', 3); ANALYZE books`,
  );
}

/** The last acknowledged state of each written record. Null if it was deleted. */
type Ledger = Map<number, Shown | null>;

interface Traffic {
  readonly times: number[];
  /** The unexpected responses. */
  readonly failed: string[];
  /** A record and its tag, as they were last read. */
  readonly seen: { readonly id: number; readonly etag: string } | null;
  stop(): Promise<void>;
}

let made = 10_000_000;

/**
 * Starts writers that create, change, delete and read books. Each writer uses different books. All of them stop at the
 * first failed request.
 */
function startTraffic({ address }: ServiceProcess, count: number, ledger: Ledger): Traffic {
  const times: number[] = [];
  const failed: string[] = [];
  let isOver = false;
  let seen: Traffic["seen"] = null;
  const ask = async (method: string, target: string, wanted: number, body?: Shown): Promise<Response | null> => {
    const start = performance.now();
    const answer = await fetch(address + target, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    }).catch((error: unknown) => String(error));
    times.push(performance.now() - start);
    if (typeof answer !== "string" && answer.status === wanted) return answer;
    failed.push(typeof answer === "string" ? answer : `${method} ${answer.status} ${await answer.text()}`);
    return null;
  };
  const work = async (writer: number): Promise<void> => {
    for (let turn = 0; !isOver && failed.length === 0; turn++) {
      const own = Math.floor((Math.random() * rows) / writers) * writers + writer + 1;
      const id = own > rows || ledger.get(own) === null ? null : own;
      const body = bodyBehind(count, made++);
      let answer: Response | null;
      if (id === null || turn % 5 === 0) answer = await ask("POST", "/books", 201, body);
      else if (turn % 50 === 7) {
        if ((await ask("DELETE", `/books/${id}`, 204)) !== null) ledger.set(id, null);
        continue;
      } else if (turn % 5 === 1) {
        answer = await ask("GET", `/books/${id}`, 200);
        if (answer !== null) seen = { id, etag: answer.headers.get("etag")! };
        await answer?.text();
        continue;
      } else answer = await ask("PATCH", `/books/${id}`, 200, { note: body["note"], isbn: body["isbn"] });
      if (answer === null) return;
      const { id: written, ...record } = (await answer.json()) as Shown & { readonly id: number };
      ledger.set(written, record);
    }
  };
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => work(writer)));
  return {
    times,
    failed,
    get seen() {
      return seen;
    },
    async stop() {
      isOver = true;
      await all;
    },
  };
}

/** Runs `latchkey`. Returns null if it is killed after this many milliseconds. */
async function latchkey(
  home: Home,
  folder: string,
  args: readonly string[],
  killedAfter: number | null = null,
): Promise<{ readonly code: number | null; readonly said: string } | null> {
  const child = spawn(process.execPath, [command, ...args], {
    cwd: folder,
    env: { ...process.env, LATCHKEY_DATABASE: home.database },
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
  return code === null ? null : { code, said };
}

function start(home: Home, count: number): Promise<ServiceProcess> {
  const config = home.createFolder(count);
  return startService(
    {
      LATCHKEY_DATABASE: home.database,
      LATCHKEY_SECRET: "known to every version of the product",
      LATCHKEY_LOG: "silent",
    },
    ["sh", "-c", 'cd "$0" && exec "$1" "$2"', config, process.execPath, command],
  );
}

/** Checks that every record has its last acknowledged state, converted by the changes of the declaration since then. */
async function verify(home: Home, from: number, count: number, ledger: Ledger): Promise<void> {
  const file = /^sqlite:(.*)$/.exec(home.database)?.[1];
  const store =
    file === undefined ? postgresStore({ url: new Secret(home.database), poolSize: 2 }) : sqliteStore({ path: file });
  const collections = mountsBehind(count).map(({ collection }) => collection);
  await store.open(collections);
  const collection = collections.at(-1)!;
  let seen = 0;
  for (let behind = 0; ;) {
    const where = { column: "id", operator: "gt", value: behind } as const;
    const page = await store.list({ collection, where, sort: [{ column: "id" }], limit: 1000 });
    for (const { record } of page) {
      const { id, ...shown } = record;
      const written = ledger.get(id as number);
      const expected =
        written === undefined || written === null
          ? carried(beginning(id as number), 0, count)
          : leftWithout(written, shown, from, count);
      if (written !== undefined && written !== null) ledger.set(id as number, expected);
      assert.deepEqual(shown, expected, `record ${String(id)} behind ${count} changes`);
      assert.ok(ledger.get(id as number) !== null, `record ${String(id)} is there again`);
      seen++;
    }
    if (page.length === 0) break;
    behind = page.at(-1)!.record["id"] as number;
  }
  const more = [...ledger].filter(([id, record]) => id > rows && record !== null).length;
  const gone = [...ledger].filter(([id, record]) => id <= rows && record === null).length;
  assert.equal(seen, rows + more - gone);
  await store.close();
}

function p99(times: readonly number[]): string {
  return (times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? 0).toFixed(0);
}

/** Makes one release: the previous version serves while the migration of the next one runs. */
async function release(t: TestContext, home: Home, from: number, to: number, ledger: Ledger): Promise<void> {
  const folder = home.createFolder(to);
  const dropped = droppedBetween(from, to).flatMap((column) => ["--allow-data-loss", column]);
  await using old = await start(home, from);
  const quiet = startTraffic(old, from, ledger);
  await sleep(Math.min(rows, 2000));
  await quiet.stop();
  assert.deepEqual(quiet.failed, []);
  const planRun = await latchkey(home, folder, ["db", "plan", "--json", ...dropped]);
  assert.equal(planRun!.code, 0, planRun!.said);
  const plan = JSON.parse(planRun!.said) as {
    tables: readonly { changes: readonly { effect: string; alone: string | null }[] }[];
  };
  const all = plan.tables.flatMap((each) => each.changes);
  const serves = all.every(({ alone }) => alone === null);
  // The previous version continues even if the plan does not allow it. In that case, the service refuses its writes.
  const beside = startTraffic(old, from, ledger);
  const begun = performance.now();
  let ended: Awaited<ReturnType<typeof latchkey>> = null;
  let killed = 0;
  for (; killed < kills && ended === null; killed += ended === null ? 1 : 0)
    ended = await latchkey(home, folder, ["db", "migrate", ...dropped], 700 + Math.random() * Math.max(600, rows / 20));
  ended ??= await latchkey(home, folder, ["db", "migrate", ...dropped]);
  const seconds = (performance.now() - begun) / 1000;
  assert.equal(ended!.code, 0, `behind ${to}: ${ended!.said}`);
  if (serves) {
    await using next = await start(home, to);
    await sleep(200);
    // If the plan allows the previous version to continue, all its requests must succeed.
    await beside.stop();
    assert.deepEqual(beside.failed, []);
    await requireOtherTag(
      next,
      quiet.seen,
      all.some(({ effect }) => effect === "changes"),
    );
  } else {
    await beside.stop();
    for (const failure of beside.failed) assert.match(failure, / (400|503) /);
  }
  for (const [id, record] of ledger) if (record !== null) ledger.set(id, carried(record, from, to));
  await verify(home, from, to, ledger);
  t.diagnostic(
    `${changes
      .slice(from, to)
      .map(({ words }) => words)
      .join(", ")}: ${seconds.toFixed(1)} s with ${killed} kills, ` +
      `${serves ? "the old version serves on" : "the old version may not serve on"}, ${beside.times.length} requests beside, ${beside.failed.length} failed; ` +
      `p99 ${p99(quiet.times)} ms quiet, ${p99(beside.times)} ms beside${beside.failed.length === 0 ? "" : `; ${beside.failed[0]?.slice(0, 120)}`}`,
  );
}

/** Requires that a client's cached copy of a record is invalid if the migration has changed the shown values. */
async function requireOtherTag({ address }: ServiceProcess, seen: Traffic["seen"], isChanged: boolean): Promise<void> {
  if (seen === null || !isChanged) return;
  const { status } = await fetch(`${address}/books/${seen.id}`, { headers: { "if-none-match": seen.etag } });
  assert.notEqual(status, 304);
}

for (const engine of engines)
  test(`replays two years of a product: ${changes.length} changes, ${step} at a time, of ${rows} records on ${engine}, with ${writers} concurrent writers and kills`, async (t) => {
    const home = await homeOn(t, engine);
    await (await start(home, 0))[Symbol.asyncDispose]();
    await home.fill();
    const ledger: Ledger = new Map();

    for (let from = 0; from < changes.length; from += step)
      await release(t, home, from, Math.min(from + step, changes.length), ledger);

    assert.ok(ledger.size > 0);
  });
