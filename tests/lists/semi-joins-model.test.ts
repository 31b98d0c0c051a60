import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresStore, sqliteStore } from "../../src/door/stores.ts";
import { isServed } from "../../src/store/served.ts";
import { connectReadOnly } from "../../src/store/sqlite/connection/connection.ts";
import { getTable } from "../../src/store/sqlite/dialect.ts";
import { createReader } from "../../src/store/sqlite/reads/reader.ts";
import type { SemiJoinLimits } from "../../src/store/sqlite/reads/semi-joins.ts";
import {
  LongReadNeeded,
  type ListQuery,
  type ListText,
  type Row,
  type Collection,
  type Where,
} from "../../src/store/store.ts";
import { bothDatabases } from "../harness/both-databases.ts";
import { drawFrom, type Draw } from "../harness/draw.ts";
import {
  answerModel,
  drawQuery,
  drawRows,
  insertRows,
  modelTables,
  type ModelRows,
} from "../harness/semi-join-model.ts";

const DRAWS = 2000;

const open = bothDatabases();

test("finds the same rows by other rows as plain JavaScript, on both databases", async (t) => {
  const draw = drawFrom(42);
  const rows = drawRows(draw, 60);
  const stores = (await open(t)).map((database) => database.open());
  t.after(() => Promise.all(stores.map((store) => store.close())));
  for (const store of stores) {
    await store.open(modelTables);
    await store.write({ changes: insertRows(rows) });
  }
  for (let n = 0; n < DRAWS; n++) {
    const query = drawQuery(draw, rows);
    const expected = answerModel(rows, query);
    const asked = { ...query, long: draw.below(4) === 0 || !isServed(query) };
    await Promise.all(
      stores.map(async (store, at) => {
        const about = `${at === 0 ? "SQLite" : "PostgreSQL"}, draw ${n}: ${describe(query)}`;
        requireSame(await store.listJSON(asked), expected, about);
        requireSameRows(await store.list(asked), expected, about);
        assert.equal(await store.count(query.collection, query.where, true), expected.count, about);
      }),
    );
  }
});

test("finds the same rows with every plan on SQLite", async (t) => {
  const draw = drawFrom(43);
  const rows = drawRows(draw, 200);
  const [database] = await open(t);
  const store = database.open();
  t.after(() => store.close());
  await store.open(modelTables);
  await store.write({ changes: insertRows(rows) });
  const connection = connectReadOnly(database.place.path);
  t.after(() => connection.close());
  const plans = { whole: 0, long: 0 };
  for (const limits of drawLimits(draw)) {
    const reader = createReader({ database: connection, ready: () => {}, version: () => 1, getTable, limits });
    for (let n = 0; n < DRAWS / 4; n++) checkPlan(draw, rows, reader, plans);
  }
  // Both a page of the first rows and a long read were often needed.
  assert.ok(plans.whole > 200 && plans.long > 50, JSON.stringify(plans));
});

test("finds the same rows in tables with a prefix", async (t) => {
  const draw = drawFrom(44);
  const rows = drawRows(draw, 40);
  const [{ place: file }, { place: server }] = await open(t);
  const tablePrefix = "lk_";
  const stores = [sqliteStore({ path: file.path, tablePrefix }), postgresStore({ url: server.url, tablePrefix })];
  t.after(() => Promise.all(stores.map((store) => store.close())));
  const [projects, memberships] = modelTables as [Collection, Collection];
  for (const store of stores) {
    await store.open(modelTables);
    await store.write({ changes: insertRows(rows) });
    const ofUser = (value: number): Where => ({ column: "user_id", operator: "eq", value });
    const isMember = { collection: memberships, select: "project_id", where: ofUser(5) };
    const requires = [{ collection: projects, where: { column: "id", among: isMember } as const }];
    assert.equal((await store.write({ changes: [], requires })).kind, "written");
    const none = [{ collection: memberships, where: ofUser(0) }];
    assert.equal((await store.write({ changes: [], requires: none })).kind, "refused");
  }
  for (let n = 0; n < 100; n++) {
    const query = drawQuery(draw, rows);
    const expected = answerModel(rows, query);
    for (const store of stores) {
      requireSame(await store.listJSON({ ...query, long: n % 2 === 0 }), expected, describe(query));
      assert.equal(await store.count(query.collection, query.where, true), expected.count, describe(query));
    }
  }
});

function checkPlan(
  draw: Draw,
  rows: ModelRows,
  reader: ReturnType<typeof createReader>,
  plans: { whole: number; long: number },
): void {
  const query = drawQuery(draw, rows);
  const expected = answerModel(rows, query);
  const about = describe(query);
  const isLong = !isServed(query);
  try {
    requireSame(reader.listJSON({ ...query, long: isLong }), expected, about);
    requireSameRows(reader.list({ ...query, long: isLong }), expected, about);
    plans.whole++;
  } catch (error) {
    if (!(error instanceof LongReadNeeded)) throw error;
    plans.long++;
  }
  requireSame(reader.listJSON({ ...query, long: true }), expected, about);
  requireSameRows(reader.list({ ...query, long: true }), expected, about);
}

function drawLimits(draw: Draw): readonly SemiJoinLimits[] {
  return Array.from({ length: 8 }, () => ({
    fewValues: draw.below(4),
    fewRows: { covered: draw.below(20), read: draw.below(5) },
    fewRowsOfLongRead: { covered: draw.below(100), read: draw.below(50) },
    firstRows: 1 + draw.below(4),
    moreRows: 5 + draw.below(20),
  }));
}

function requireSame({ json, more, last }: ListText, expected: ReturnType<typeof answerModel>, about: string): void {
  const ids = (JSON.parse(json) as { id: number }[]).map(({ id }) => id);
  assert.deepEqual({ ids, more }, { ids: expected.ids, more: expected.more }, about);
  assert.equal(last?.at(-1), expected.ids.at(-1), about);
}

function requireSameRows(found: readonly Row[], expected: ReturnType<typeof answerModel>, about: string): void {
  assert.deepEqual(
    found.map(({ record }) => record["id"]),
    expected.ids,
    about,
  );
}

function describe({ collection, where, sort, after, limit }: ListQuery): string {
  const named = JSON.stringify(where, (key, value: unknown) =>
    key === "collection" ? (value as { name: string }).name : value,
  );
  return `${collection.name} ${named} ${JSON.stringify({ sort, after, limit })}`;
}
