import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import { StoreUnavailable, type Store } from "../../store/store.ts";
import { requestCounter, requestCountsCollection, type RequestCounter } from "./counter.ts";
import { createExchange } from "./exchange.ts";

const start = Date.parse("2026-03-01T12:00:00Z");
const perMinute = { name: "burst", limit: 10, windowSeconds: 60 };

async function opened(): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([requestCountsCollection]);
  return store;
}

/** Counts `times` requests, and returns how many of them are allowed. */
async function letThrough(counter: RequestCounter, times: number, now: number, subject = "a"): Promise<number> {
  let allowed = 0;
  for (let at = 0; at < times; at++) if ((await counter.take(subject, now)).isAllowed) allowed++;
  return allowed;
}

function createWriter(store: Store, counter: RequestCounter, kinds: string[] = []) {
  const observe = (each: { readonly kind: string }): void => void kinds.push(each.kind);
  return createExchange({ store, counters: [counter], observe, now: () => start });
}

test("allows at most the limit in any window", async () => {
  const counter = requestCounter(await opened(), perMinute);

  assert.equal(await letThrough(counter, 12, start), 10);
  // At the middle of the next window, half of the ten requests still count.
  assert.equal(await letThrough(counter, 12, start + 90_000), 5);
  assert.equal(await letThrough(counter, 12, start + 300_000), 10);
  assert.equal(await letThrough(counter, 3, start + 300_000, "b"), 3);
});

test("reports the remaining requests, the end of the window and the time of the next free request", async () => {
  const counter = requestCounter(await opened(), perMinute);

  assert.deepEqual(await counter.take("a", start), {
    isAllowed: true,
    remaining: 9,
    resetSeconds: 60,
    retrySeconds: 0,
  });
  await letThrough(counter, 9, start);
  const refused = await counter.take("a", start + 1000);
  assert.deepEqual([refused.isAllowed, refused.remaining, refused.resetSeconds], [false, 0, 59]);
  const again = start + 1000 + refused.retrySeconds * 1000;
  assert.equal((await counter.take("a", again - 2000)).isAllowed, false);
  assert.equal((await counter.take("a", again)).isAllowed, true);
});

test("includes the counts of other processes after an exchange", async () => {
  const store = await opened();
  const [here, there] = [requestCounter(store, perMinute), requestCounter(store, perMinute)];
  assert.equal(await letThrough(here, 4, start), 4);
  assert.equal(await letThrough(there, 4, start), 4);

  await createWriter(store, here).writePortion();
  await createWriter(store, there).writePortion();

  // `there` got the total from its exchange. A new process reads the rows before it counts. `here` has not exchanged
  // again.
  assert.equal(await letThrough(there, 9, start), 2);
  assert.equal(await letThrough(requestCounter(store, perMinute), 9, start), 2);
  assert.equal(await letThrough(here, 9, start), 6);
  await createWriter(store, here).writePortion();
  assert.equal(await letThrough(here, 9, start), 0);
});

test("writes a row only for a subject that has used a twentieth of the limit", async () => {
  const store = await opened();
  const counter = requestCounter(store, { ...perMinute, limit: 100 });
  const exchange = createWriter(store, counter);
  for (let at = 0; at < 1000; at++) await counter.take(`address ${at}`, start);
  await letThrough(counter, 5, start, "often");

  await exchange.writeAll();

  assert.equal(await store.count(requestCountsCollection, null), 1);
});

test("exchanges many subjects in portions, and keeps a limited number in memory", async () => {
  const store = await opened();
  const counter = requestCounter(store, perMinute);
  const changes: number[] = [];
  const watched: Store = { ...store, write: (each) => (changes.push(each.changes.length), store.write(each)) };
  const exchange = createWriter(watched, counter);
  for (let at = 0; at < 25_000; at++) await counter.take(`address ${at}`, start);

  await exchange.writePortion();
  await exchange.writePortion();

  assert.deepEqual(changes, [500, 500]);
});

test("counts in each process alone while the store does not answer, and logs it once", async () => {
  const store = await opened();
  const fail = () => {
    throw new StoreUnavailable("gone");
  };
  const down: Store = { ...store, find: fail, write: async () => fail() };
  const counter = requestCounter(down, perMinute);
  const kinds: string[] = [];
  const exchange = createWriter(down, counter, kinds);

  assert.equal(await letThrough(counter, 12, start), 10);
  await exchange.writePortion();
  await exchange.writePortion();

  assert.deepEqual(kinds, ["notice"]);
  const back = createWriter(store, counter);
  await back.writeAll();
  assert.equal(await letThrough(requestCounter(store, perMinute), 12, start), 0);
});

test("allows no extra requests after the clock was turned back, and refuses no longer than two windows", async () => {
  const counter = requestCounter(await opened(), perMinute);
  await letThrough(counter, 10, start);

  const refused = await counter.take("a", start - 3_600_000);

  assert.equal(refused.isAllowed, false);
  assert.ok(refused.retrySeconds <= 120, String(refused.retrySeconds));
});
