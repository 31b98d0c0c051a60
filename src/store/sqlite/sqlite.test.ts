import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import { DeclarationError } from "../../core/checking/declaration-error.ts";
import type { Observation } from "../../core/observation.ts";
import { certifyStore } from "../../testing/store-contract.ts";
import { StoreSetupError, StoreUnavailable, type Collection, type Store } from "../store.ts";
import { connect, prepare, createStatementCache } from "./connection/connection.ts";
import { sqliteStore } from "./sqlite.ts";

const notes: Collection = {
  name: "notes",
  key: "integer",
  columns: [
    { name: "text", type: "text" },
    { name: "code", type: "text", unique: "folded", nullable: true },
  ],
};

certifyStore("SQLite file", async () => {
  const { path, dispose } = folder();
  const stores: Store[] = [];
  const reopen = async (): Promise<Store> => {
    const store = sqliteStore({ path });
    stores.push(store);
    return store;
  };
  return {
    store: await reopen(),
    reopen,
    async dispose() {
      await Promise.all(stores.map((store) => store.close()));
      dispose();
    },
  };
});

certifyStore("SQLite in memory", async () => {
  // A database in memory has one store, so the same store is opened again.
  const store = sqliteStore({ path: ":memory:" });
  return { store, reopen: async () => store, dispose: () => store.close() };
});

test("empties the queue of rows whose words are not indexed yet, also if a row was deleted", async () => {
  const searched: Collection = {
    name: "searched",
    key: "integer",
    columns: [{ name: "name", type: "text", searched: true }],
  };
  await onFile(async (path) => {
    const store = sqliteStore({ path });
    await store.open([searched]);
    const database = connect(path);
    database.exec(`INSERT INTO "_searched_words" VALUES ('', 7), ('', 8)`);

    await store.write({ changes: [{ kind: "insert", collection: searched, values: { name: "Ada" } }] });

    const waiting = (): unknown =>
      prepare(database, `SELECT count(*) FROM "_searched_words" WHERE word = ''`).get()![0];
    for (let at = 0; at < 300 && waiting() !== 0; at++) await wait(20);
    assert.equal(waiting(), 0);
    assert.deepEqual(await store.countWords!(searched, ["ada"], 10), { rows: [1], waiting: 0 });
    database.close();
    await store.close();
  });
});

test("fails a write after `busyTimeoutMs` if another process does not end its transaction", async () => {
  await onFile(async (path) => {
    const store = sqliteStore({ path, busyTimeoutMs: 20 });
    await store.open([notes]);
    const other = connect(path);
    other.exec("BEGIN IMMEDIATE");
    const start = performance.now();

    await assert.rejects(
      add(store, "late"),
      (error) =>
        error instanceof StoreUnavailable &&
        /another process has locked the file for too long.*and end it/.test(error.message),
    );

    assert.ok(performance.now() - start < 3000, "SQLite would have waited for 5 seconds");
    other.exec("ROLLBACK");
    other.close();
    assert.equal(typeof (await add(store, "in time")), "number");
    await store.close();
  });
});

test("stops a long read after its time limit", async () => {
  await onFile(async (path) => {
    const store = sqliteStore({ path, longReadTimeoutMs: 1 });
    await store.open([notes]);
    for (let round = 0; round < 20; round++)
      await store.write({
        changes: Array.from({ length: 500 }, () => ({
          kind: "insert",
          collection: notes,
          values: { text: "x".repeat(99) },
        })),
      });
    const where = {
      any: [
        { column: "text", operator: "contains", value: "y" },
        { column: "id", operator: "lt", value: 0 },
      ],
    } as const;

    await assert.rejects(async () => store.count(notes, where, true), /given up after 0\.001 s/);
    await store.close();
  });
});

test("shows acknowledged writes at once in another store on the same file", async () => {
  await onFile(async (path) => {
    const [one, other] = await Promise.all([opened(path), opened(path)]);

    await Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        const [writer, reader] = at % 2 === 0 ? [one, other] : [other, one];
        await reader.find(notes, 1);
        const outcome = await add(writer, `note ${at}`);
        assert.deepEqual(await reader.find(notes, outcome), { ...(await writer.find(notes, outcome)) });
        assert.notEqual(await reader.find(notes, outcome), null);
      }),
    );

    assert.equal(await one.count(notes, null), 100);
    await Promise.all([one.close(), other.close()]);
  });
});

test("reads while a write waits for another connection", async () => {
  await onFile(async (path) => {
    const store = await opened(path);
    const id = await add(store, "there");
    const blocker = connect(path);
    blocker.exec("BEGIN IMMEDIATE");

    let done = false;
    const waiting = add(store, "waiting").then(() => (done = true));
    await new Promise((resolve) => setTimeout(resolve, 50));

    assert.equal((await store.find(notes, id))?.record["text"], "there");
    assert.equal(done, false);
    blocker.exec("COMMIT");
    blocker.close();
    await waiting;
    await store.close();
  });
});

test("commits writes in groups if they arrive while the disk is busy", async () => {
  await onFile(async (path) => {
    const store = await opened(path);
    const watcher = connect(path);
    const version = (): unknown => prepare(watcher, "PRAGMA data_version").get()![0];
    const versions = new Set([version()]);

    await Promise.all(
      Array.from({ length: 500 }, (_, at) => add(store, `note ${at}`).then(() => versions.add(version()))),
    );

    assert.ok(versions.size < 20, `500 writes took ${versions.size - 1} commits`);
    watcher.close();
    await store.close();
  });
});

test("opens a file in WAL mode with full synchronization, so that a commit waits for the disk", async () => {
  await onFile(async (path) => {
    await (await opened(path)).close();
    const database = connect(path);

    assert.deepEqual(prepare(database, "PRAGMA synchronous").get(), [2]);
    assert.deepEqual(prepare(database, "PRAGMA journal_mode").get(), ["wal"]);
    database.close();
  });
});

test("keeps all acknowledged writes when a process is killed during a write", async () => {
  await onFile(async (path) => {
    const child = runChild(
      path,
      `for (let n = 0; ; n++) await Promise.all([0, 1, 2, 3].map(async (k) => console.log(await add(n + " " + k))));`,
    );
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.length > 2000) child.kill("SIGKILL");
    });
    await once(child, "close");

    const store = await opened(path);
    const ids = output.slice(0, output.lastIndexOf("\n")).split("\n").map(Number);
    assert.ok(ids.length > 100);
    for (const id of ids) assert.notEqual(await store.find(notes, id), null, `row ${id} is lost`);
    assert.ok((await add(store, "next")) > Math.max(...ids));
    await store.close();
  });
});

test("opens a new file from several processes at once, and issues no key twice", async () => {
  await onFile(async (path) => {
    const script = childScript(
      path,
      `const ids = await Promise.all(Array.from({ length: 25 }, (_, n) => add("" + n))); console.log(ids.join()); await store.close();`,
    );

    const results = await Promise.all(
      Array.from({ length: 3 }, () => promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])),
    );

    const ids = results.flatMap(({ stdout }) => stdout.trim().split(","));
    assert.equal(new Set(ids).size, 75);
  });
});

test("lets a process with an open store exit after its writes", async () => {
  await onFile(async (path) => {
    const child = runChild(path, `for (let n = 0; n < 10; n++) void add("" + n);`);

    const [status] = (await once(child, "close")) as [number | null];

    assert.equal(status, 0);
    const store = await opened(path);
    assert.equal(await store.count(notes, null), 10);
    await store.close();
  });
});

test("fails the writes of a writer thread that dies, and starts a new thread for the next write", async () => {
  await onFile(async (path) => {
    const observed: Observation[] = [];
    const started = new Promise<Worker>((resolve) => process.once("worker", resolve));
    const store = await opened(path, (observation) => observed.push(observation));
    await add(store, "before");
    const blocker = connect(path);
    blocker.exec("BEGIN IMMEDIATE");

    const held = [add(store, "held"), add(store, "held too")].map((each) => assert.rejects(each, StoreUnavailable));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const ended = (await started).terminate();
    blocker.exec("COMMIT");
    blocker.close();
    await ended;
    await Promise.all(held);
    await add(store, "after");

    assert.deepEqual(
      observed.map((each) => (each.kind === "notice" ? each.level : each.kind)),
      ["error", "info"],
    );
    await store.check();
    await store.close();
  });
});

test("deletes expired idempotency records at later writes", async () => {
  await onFile(async (path) => {
    const store = await opened(path);
    const repeatable = (key: string, now: string, expiresAt: string): Promise<unknown> =>
      store.write({ changes: [], idempotency: { key, fingerprint: "x", columns: [], erasable: true, now, expiresAt } });
    await Promise.all(
      Array.from({ length: 30 }, (_, at) => repeatable(`old ${at}`, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")),
    );

    await Promise.all(
      Array.from({ length: 10 }, (_, at) => repeatable(`new ${at}`, "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")),
    );
    await store.close();

    const database = connect(path);
    assert.deepEqual(prepare(database, "SELECT count(*) FROM latchkey_idempotency").get(), [10]);
    database.close();
  });
});

test("reports a file that cannot be opened as a set-up mistake, with the fix", async () => {
  await onFile(async (path) => {
    const matchSetupError = (words: RegExp) => (error: unknown) =>
      error instanceof StoreSetupError && words.test(error.message);
    await assert.rejects(
      opened(join(path, "nowhere", "test.db")),
      matchSetupError(/nowhere is not a directory\. Create it/),
    );
    await assert.rejects(opened(join(path, "..")), matchSetupError(/is a directory\. Name a file in it/));
  });
});

test("reports a store as not ready if its tables are missing", async () => {
  await onFile(async (path) => {
    const store = await opened(path);
    await store.check();
    const database = connect(path);
    database.exec(`DELETE FROM latchkey_schema`);
    database.close();
    await new Promise(setImmediate);

    await assert.rejects(store.check(), StoreUnavailable);
    await store.close();
  });
});

test("makes a new file and its log accessible only to their owner, and removes the log when the store is closed", async () => {
  await onFile(async (path) => {
    const store = await opened(path);
    await add(store, "secret");

    for (const suffix of ["", "-wal", "-shm"]) assert.equal(statSync(path + suffix).mode & 0o777, 0o600, suffix);
    await store.close();
    assert.equal(existsSync(`${path}-wal`), false);
  });
});

test("names all declarations that cannot be stored", async () => {
  const store = sqliteStore({ path: ":memory:" });
  const column = { name: "x", type: "integer" } as const;
  const declared: Collection[] = [
    { name: "latchkey_schema", key: "text", columns: [] },
    {
      name: "a b",
      key: "text",
      columns: [{ ...column, name: "id" }, { ...column, name: "_revision" }, column, column],
    },
    {
      name: "c",
      key: "text",
      indexes: [["nope"]],
      columns: [
        { ...column, references: { collection: "gone", onDelete: "cascade" } },
        { ...column, name: "y", unique: "folded" },
        { ...column, name: "z", default: "one" },
      ],
    },
    {
      name: "d",
      key: "text",
      columns: [
        { name: "x", type: "decimal" },
        { ...column, name: "c_id", references: { collection: "c", onDelete: "cascade" } },
      ],
    },
  ];

  await assert.rejects(store.open(declared), (error) => {
    assert.ok(error instanceof DeclarationError);
    for (const place of [
      "latchkey_schema",
      "a b:",
      "a b.id",
      "a b._revision",
      "a b.x",
      "c:",
      "c.x",
      "c.y",
      "c.z",
      "d.x",
      "d.c_id",
    ])
      assert.ok(error.message.includes(`- collection ${place}`), `${place} in ${error.message}`);
    return true;
  });
});

test("reuses prepared statements, and drops old ones from a full cache", () => {
  const database = connect(":memory:");
  const statements = createStatementCache(database);
  let made = 0;
  const ask = (shape: string): void => void statements(shape, () => `SELECT ${++made}`);

  for (let round = 0; round < 2; round++) for (let shape = 0; shape < 100; shape++) ask(String(shape));
  assert.equal(made, 100);
  for (let shape = 0; shape < 1000; shape++) ask(String(shape));
  ask("0");

  assert.equal(made, 1001);
});

async function opened(path: string, observe: (observation: Observation) => void = () => {}): Promise<Store> {
  const store = sqliteStore({ path, observe });
  await store.open([notes]);
  return store;
}

async function add(store: Store, text: string): Promise<number> {
  const outcome = await store.write({ changes: [{ kind: "insert", collection: notes, values: { text } }] });
  assert.ok(outcome.kind === "written");
  return outcome.rows[0]!.record["id"] as number;
}

function childScript(path: string, script: string): string {
  return `
    import { sqliteStore } from ${JSON.stringify(new URL("./sqlite.ts", import.meta.url))};
    const notes = ${JSON.stringify(notes)};
    const store = sqliteStore({ path: ${JSON.stringify(path)} });
    await store.open([notes]);
    const add = async (text) => (await store.write({ changes: [{ kind: "insert", collection: notes, values: { text } }] })).rows[0].record.id;
    ${script}`;
}

function runChild(path: string, script: string): ReturnType<typeof spawn> & { readonly stdout: NodeJS.ReadableStream } {
  return spawn(process.execPath, ["--input-type=module", "-e", childScript(path, script)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function folder(): { readonly path: string; dispose(): void } {
  const made = mkdtempSync(join(tmpdir(), "latchkey-"));
  return { path: join(made, "test.db"), dispose: () => rmSync(made, { recursive: true }) };
}

async function onFile(use: (path: string) => Promise<void>): Promise<void> {
  const { path, dispose } = folder();
  try {
    await use(path);
  } finally {
    dispose();
  }
}
