import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { StoreTimeout, StoreUnavailable, type Collection, type ListQuery } from "../../store.ts";
import { connect } from "../connection/connection.ts";
import { prepareFile } from "../schema.ts";
import { sqliteStore } from "../sqlite.ts";
import { longReads } from "./long-reads.ts";

const people: Collection = { name: "people", key: "integer", columns: [{ name: "name", type: "text" }] };
const query: ListQuery = {
  collection: people,
  where: { column: "name", operator: "contains", value: "7" },
  sort: [{ column: "name" }, { column: "id" }],
  limit: 3,
  long: true,
};

test("returns the same for a long read as for a short one", async (t) => {
  const store = sqliteStore({ path: crowded(t, 1000) });
  await store.open([people]);
  t.after(() => store.close());
  const short = { ...query, long: false };

  const page = await store.listJSON(query);

  const { json, count, more, first, last } = await store.listJSON(short);
  assert.deepEqual(page, { json, count, more, first, last });
  assert.deepEqual(await store.list(query), await store.list(short));
  assert.equal(await store.count(people, query.where, true), await store.count(people, query.where));
  assert.equal(await store.count(people, null, true), 1000);
});

test("caches a long page until the next write", async (t) => {
  const store = sqliteStore({ path: crowded(t, 1000) });
  await store.open([people]);
  t.after(() => store.close());

  const repeated = { ...query, repeated: true };
  const page = await store.listJSON(repeated);

  assert.equal(store.listJSON(repeated), page);
  await store.write({ changes: [{ kind: "insert", collection: people, values: { name: "0 7" } }] });
  const next = await store.listJSON(query);
  assert.match(next.json, /^\[\{"id":1001,"name":"0 7"\}/);
});

test("caches a long count until the next write", async (t) => {
  const store = sqliteStore({ path: crowded(t, 1000) });
  await store.open([people]);
  t.after(() => store.close());

  assert.equal(await store.count(people, query.where, true), 271);
  assert.equal(await store.count(people, null, true), 1000);

  assert.equal(store.count(people, query.where, true), 271);
  assert.equal(store.count(people, null, true), 1000);
  await store.write({ changes: [{ kind: "insert", collection: people, values: { name: "0 7" } }] });
  assert.equal(await store.count(people, query.where, true), 272);
  assert.equal(await store.count(people, null, true), 1001);
});

test("stops a read that takes too long, and answers the next one", async (t) => {
  const file = crowded(t, 20_000);
  const reads = longReads({ path: file, collections: [people], limitMs: -1 });
  t.after(() => reads.close());

  const answer = reads.read("listJSON", query);

  await assert.rejects(answer, StoreTimeout);
  const one = { column: "id", operator: "eq", value: 7 } as const;
  const rows = await reads.read("list", { ...query, where: one });
  assert.equal(rows.length, 1);
});

test("rejects a read of an undeclared column, and answers the next read", async (t) => {
  const reads = longReads({ path: crowded(t, 10), collections: [people], limitMs: 1000 });
  t.after(() => reads.close());

  const wrong = { column: "nose", operator: "eq", value: 1 } as const;

  await assert.rejects(reads.read("count", { collection: people, where: wrong }), /no column/);
  assert.equal(await reads.read("count", { collection: people, where: null }), 10);
});

test("answers or rejects every waiting read when the store is closed", async (t) => {
  const reads = longReads({ path: crowded(t, 10), collections: [people], limitMs: 1000 });
  const answers = Array.from({ length: 8 }, () => reads.read("count", { collection: people, where: null }));
  const outcomes = Promise.allSettled(answers);

  await reads.close();

  for (const each of await outcomes)
    assert.ok(each.status === "fulfilled" || each.reason instanceof StoreUnavailable, JSON.stringify(each));
});

const isLinux = process.platform === "linux";
test(
  "pauses the reader thread regularly during a long read, so that other threads do not wait",
  { skip: !isLinux },
  async (t) => {
    const reads = longReads({ path: crowded(t, 200_000), collections: [people], limitMs: 600_000 });
    t.after(() => reads.close());
    const count = (): Promise<number> => reads.read("count", { collection: people, where: query.where });
    await count();
    const before = pauses();

    await count();

    const paused = pauses() - before;
    assert.ok(paused > 5, String(paused));
  },
);

/** Returns the number of voluntary context switches of the reader threads. */
function pauses(): number {
  const tasks = "/proc/self/task";
  const found = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/status`, "utf8"));
  const reading = found.filter((status) => status.startsWith("Name:\tlatchkey-long"));
  return reading.reduce((all, status) => all + Number(/^voluntary_ctxt_switches:\t(\d+)$/m.exec(status)![1]), 0);
}

function crowded(t: TestContext, rows: number): string {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "people.db");
  prepareFile(file, [people]);
  const database = connect(file);
  database.exec(`
    WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${rows})
    INSERT INTO people (id, _revision, name) SELECT n, n, printf('%06d', n) FROM n;
    UPDATE latchkey_revision SET revision = ${rows};
    INSERT INTO latchkey_keys (collection, next) VALUES ('people', ${rows + 1})`);
  database.close();
  return file;
}
