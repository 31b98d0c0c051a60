import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Observation } from "../observation.ts";
import { sqliteStore } from "../store/sqlite/sqlite.ts";
import type { Change, Collection, Store } from "../store/store.ts";
import { startUpkeep } from "./upkeep.ts";

const visits: Collection = {
  name: "visits",
  key: "integer",
  columns: [
    { name: "at", type: "integer" },
    { name: "secret", type: "text", nullable: true },
  ],
  indexes: [["at"]],
};

const past = { column: "at", operator: "lte", value: 10 } as const;
const erased: Change = { kind: "deleteAll", collection: visits, where: past };
const cleared: Change = {
  kind: "updateAll",
  collection: visits,
  where: { all: [past, { column: "secret", operator: "null", value: false }] },
  values: { secret: null },
};

test("what has run out goes some rows at a time, and another upkeep does not wait for it", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const store = await filled(1200);
  const sent: Change[] = [];
  const observed: Observation[] = [];
  const watched: Store = { ...store, write: ({ changes }) => (sent.push(...changes), store.write({ changes })) };
  const stop = startUpkeep(
    [
      { everySeconds: 60, due: () => [erased] },
      { everySeconds: 1, due: () => [cleared] },
    ],
    { store: watched, observe: (each) => void observed.push(each), now: () => 10 },
  );

  t.mock.timers.tick(1000);
  while ((await store.count(visits, past)) > 0) await new Promise(setImmediate);
  stop();

  assert.equal(await store.count(visits, null), 1);
  assert.ok(sent.every((change) => "atMost" in change && change.atMost <= 500));
  assert.deepEqual([...new Set(sent.slice(0, 2).map(({ kind }) => kind))], ["deleteAll", "updateAll"]);
  assert.deepEqual(observed, []);
});

test("a disk that syncs slowly makes no portions small, and slow rows do", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const portionsOf = async (tookMs: (rows: number, at: number) => number): Promise<readonly number[]> => {
    const store = await filled(4000);
    const portions: number[] = [];
    const slow: Store = {
      ...store,
      async write({ changes }) {
        const [change] = changes;
        assert.ok(change?.kind === "deleteAll" && change.atMost !== undefined);
        portions.push(change.atMost);
        await wait(tookMs(change.atMost, portions.length));
        return store.write({ changes });
      },
    };
    const options = { store: slow, observe: null, now: () => 10 };
    const stop = startUpkeep([{ everySeconds: 1, due: () => [erased] }], options);
    t.mock.timers.tick(1000);
    while ((await store.count(visits, past)) > 0 && portions.length < 30) await wait(10);
    stop();
    return portions;
  };

  const [ofSlowSyncs, ofSlowRows, ofSlower] = await Promise.all([
    portionsOf(() => 20),
    portionsOf((rows) => rows),
    portionsOf((_rows, at) => (at < 6 ? 1 : 20)),
  ]);

  assert.ok(Math.max(...ofSlowSyncs) > 200, ofSlowSyncs.join());
  assert.ok(Math.max(...ofSlowRows) <= 20, ofSlowRows.join());
  // A disk that was quick at first.
  assert.ok(Math.max(...ofSlower) > 100, ofSlower.join());
});

test("the longer a write takes, the larger is the share of those who do not erase", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const pausesWhere = async (takesMs: number): Promise<readonly number[]> => {
    const store = await filled(4000);
    const pauses: number[] = [];
    let ended: number | null = null;
    const slow: Store = {
      ...store,
      async write({ changes }) {
        if (ended !== null) pauses.push(performance.now() - ended);
        await wait(takesMs);
        const outcome = await store.write({ changes });
        ended = performance.now();
        return outcome;
      },
    };
    const stop = startUpkeep([{ everySeconds: 1, due: () => [erased] }], { store: slow, observe: null, now: () => 10 });
    t.mock.timers.tick(1000);
    for (let at = 0; pauses.length < 2 && at < 500; at++) await wait(10);
    stop();
    return pauses;
  };

  const [quick, slow] = await Promise.all([pausesWhere(10), pausesWhere(100)]);

  assert.ok(Math.min(...quick) >= 9 && Math.min(...quick) < 100, quick.join());
  assert.ok(Math.min(...slow) >= 450, slow.join());
});

test("what an upkeep does besides erasing stays one transaction with it", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const store = await filled(3);
  const sent: number[] = [];
  const watched: Store = { ...store, write: ({ changes }) => (sent.push(changes.length), store.write({ changes })) };
  const counted: Change = { kind: "insert", collection: visits, values: { at: 99 } };
  const stop = startUpkeep([{ everySeconds: 1, due: () => [counted, erased] }], {
    store: watched,
    observe: null,
    now: () => 10,
  });

  t.mock.timers.tick(1000);
  while ((await store.count(visits, past)) > 0) await new Promise(setImmediate);
  stop();

  assert.deepEqual(sent, [2]);
  assert.equal(await store.count(visits, null), 2);
});

/** A store with so many that have run out, and one that has not. */
async function filled(count: number): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([visits]);
  const changes = Array.from({ length: count }, (_, at): Change => ({
    kind: "insert",
    collection: visits,
    values: { at: at % 10, secret: "x" },
  }));
  await store.write({ changes: [...changes, { kind: "insert", collection: visits, values: { at: 11 } }] });
  return store;
}

test("upkeep that fails is told with its feature and its fault, and tried again", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const store = sqliteStore({ path: ":memory:" });
  const told: Observation[] = [];
  const fault = new Error("no clock");
  const due = (): never => {
    throw fault;
  };
  const observe = (each: Observation): void => void told.push(each);
  const stop = startUpkeep([{ feature: "mail", everySeconds: 1, due }], { store, observe, now: () => 10 });

  for (let round = 0; round < 2; round++) {
    t.mock.timers.tick(1000);
    await new Promise(setImmediate);
  }
  stop();

  const message = "feature mail: What has run out could not be erased; it will be tried again.";
  assert.deepEqual(told, Array(2).fill({ kind: "notice", level: "error", message, error: fault }));
});
