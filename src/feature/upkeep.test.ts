import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "../core/observation.ts";
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

test("deletes expired rows in portions, without delaying another upkeep", async (t) => {
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

test("pauses between writes to rows that another transaction has locked", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const store = await filled(3);
  let sent = 0;
  // PostgreSQL also reports success without a change if another transaction has locked the rows.
  const passing: Store = { ...store, write: async () => (sent++, { kind: "written", rows: [null] }) };
  const stop = startUpkeep([{ everySeconds: 60, due: () => [erased] }], {
    store: passing,
    observe: null,
    now: () => 10,
  });

  t.mock.timers.tick(1000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  stop();

  assert.ok(sent > 0 && sent <= 3, `${sent}`);
});

test("writes other changes of an upkeep in one transaction with its deletions", async (t) => {
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

/** Returns a store with this many expired rows, and one row that has not expired. */
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

test("reports a failed upkeep with its feature and fault, tries again, and reports the same fault only once until it succeeds", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const store = sqliteStore({ path: ":memory:" });
  const observations: Observation[] = [];
  const faults = [new Error("no clock"), new Error("no clock"), new Error("no time"), null, new Error("no time")];
  let tried = 0;
  const due = (): readonly Change[] => {
    const fault = faults[tried++];
    if (fault) throw fault;
    return [];
  };
  const observe = (each: Observation): void => void observations.push(each);
  const stop = startUpkeep([{ feature: "mail", everySeconds: 1, due }], { store, observe, now: () => 10 });

  while (tried < faults.length) {
    t.mock.timers.tick(1000);
    await new Promise(setImmediate);
  }
  stop();

  const message = "feature mail: Expired rows could not be deleted; the upkeep tries again.";
  assert.deepEqual(
    observations,
    [faults[0], faults[2], faults[4]].map((error) => ({ kind: "notice", level: "error", message, error })),
  );
});
