import assert from "node:assert/strict";
import { test } from "node:test";
import { anyone, dateTime, defineResource, mount } from "../../src/door/index.ts";
import { sqliteStore, type Store } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";

// On SQLite alone: the store of each test blocks the event loop, and PostgreSQL never does.

const things = defineResource({
  name: "thing",
  fields: { at: dateTime() },
  filters: { at: ["gte", "lt"] },
  sorts: ["at"],
});

/** Uses `ms` milliseconds of CPU time of the thread. Other programs do not change this time. */
function work(ms: number): void {
  const own = (): number => process.threadCpuUsage().user + process.threadCpuUsage().system;
  for (const start = own(); own() - start < ms * 1000;);
}

test("reads a list outside of the event loop after several slow reads, and logs a notice", async (t) => {
  const store = sqliteStore({ path: ":memory:" });
  const recordedReads: string[] = [];
  const watched: Store = {
    ...store,
    listJSON(query, beside) {
      const [order] = query.sort;
      recordedReads.push(
        `${order!.descending === true ? "-" : ""}${order!.column} ${query.long === true ? "beside" : "at once"}`,
      );
      // Simulates an index that is slow because all rows have the same value.
      if (order!.descending === true) work(25);
      return store.listJSON(query, beside);
    },
  };
  const own = await ownService(t, { store: watched, mounts: [mount(things, { permission: anyone })] });

  const day = "at[gte]=2026-01-01T00:00:00Z";
  const queries = [
    "sort=-at",
    "sort=at",
    "sort=-at&limit=50",
    "sort=-at&limit=60",
    `sort=-at&${day}`,
    "sort=at&limit=5",
  ];
  for (const query of queries) assert.equal((await own.get(`/things?${query}`)).status, 200);

  // One slow read is not enough, because the machine may have been busy once.
  assert.deepEqual(recordedReads, [
    "-at at once",
    "at at once",
    "-at at once",
    "-at beside",
    "-at at once",
    "at at once",
  ]);
  const notices = own.observed.flatMap((each) =>
    each.kind === "notice" && each.message.startsWith("A list") ? [each.message] : [],
  );
  assert.equal(notices.length, 1);
  assert.match(
    notices[0]!,
    /^A list of things took \d+ ms for a page of 50, with the order -at, id, and other requests waited for it\./,
  );
});

test("reads shorter pages of a list in the event loop if only its long pages are slow", async (t) => {
  const store = sqliteStore({ path: ":memory:" });
  const recordedReads: string[] = [];
  const listJSON: Store["listJSON"] = (query, beside) => {
    recordedReads.push(`${query.limit} ${query.long === true ? "beside" : "at once"}`);
    // Simulates the time that large records take.
    work(query.limit / 40);
    return store.listJSON(query, beside);
  };
  const own = await ownService(t, { store: { ...store, listJSON }, mounts: [mount(things, { permission: anyone })] });

  for (const limit of [1000, 999, 998, 100, 10]) await own.get(`/things?limit=${limit}`);

  assert.deepEqual(recordedReads, ["1000 at once", "999 at once", "998 beside", "100 at once", "10 at once"]);
});

test("reads a list in the event loop if it is slow only now and then", async (t) => {
  const store = sqliteStore({ path: ":memory:" });
  const longFlags: boolean[] = [];
  let reads = 0;
  const watched: Store = {
    ...store,
    listJSON(query, beside) {
      longFlags.push(query.long === true);
      // Every eighth read is slow. The others take 0.1 ms, like reads that are not cached. Waits by the wall clock,
      // because the CPU clock counts in ticks and may show less.
      if (reads++ % 8 === 0) work(25);
      else for (const start = performance.now(); performance.now() - start < 0.1;);
      return store.listJSON(query, beside);
    },
  };
  const own = await ownService(t, { store: watched, mounts: [mount(things, { permission: anyone })] });

  for (let limit = 1; limit <= 40; limit++) await own.get(`/things?sort=at&limit=${limit}`);

  assert.deepEqual(new Set(longFlags), new Set([false]));
});

test("reads a list in the event loop if it is slow only in another service with the same declarations", async (t) => {
  const longFlags: boolean[] = [];
  const mounts = [mount(things, { permission: anyone })];
  const serviceWith = (ms: number) => {
    const store = sqliteStore({ path: ":memory:" });
    const listJSON: Store["listJSON"] = (query, beside) => {
      longFlags.push(query.long === true);
      work(ms);
      return store.listJSON(query, beside);
    };
    return ownService(t, { store: { ...store, listJSON }, mounts });
  };
  const [slow, fast] = await Promise.all([serviceWith(25), serviceWith(0)]);

  for (const own of [slow, slow, slow, fast]) await own.get("/things");

  assert.deepEqual(longFlags, [false, false, true, false]);
});

test("treats filters in another order as the same list", async (t) => {
  const longFlags: boolean[] = [];
  const store = sqliteStore({ path: ":memory:" });
  const listJSON: Store["listJSON"] = (query, beside) => {
    longFlags.push(query.long === true);
    work(25);
    return store.listJSON(query, beside);
  };
  const own = await ownService(t, { store: { ...store, listJSON }, mounts: [mount(things, { permission: anyone })] });
  const [from, to] = ["at[gte]=2026-01-01T00:00:00Z", "at[lt]=2026-01-02T00:00:00Z"];

  for (const query of [`${from}&${to}`, `${to}&${from}`, `${from}&${to}`])
    assert.equal((await own.get(`/things?sort=at&${query}`)).status, 200);

  assert.deepEqual(longFlags, [false, false, true]);
});

test("treats no list as slow if the system delays the process", async (t) => {
  const longFlags: boolean[] = [];
  const store = sqliteStore({ path: ":memory:" });
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const listJSON: Store["listJSON"] = (query, beside) => {
    longFlags.push(query.long === true);
    Atomics.wait(nothing, 0, 0, 30);
    return store.listJSON(query, beside);
  };
  const own = await ownService(t, { store: { ...store, listJSON }, mounts: [mount(things, { permission: anyone })] });

  for (let limit = 10; limit < 20; limit++) await own.get(`/things?limit=${limit}`);

  assert.deepEqual(new Set(longFlags), new Set([false]));
});
