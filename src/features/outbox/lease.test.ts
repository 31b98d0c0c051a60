import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { leases } from "./events.ts";
import { createLeases } from "./lease.ts";

const hour = 3_600_000;

async function opened(): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([leases]);
  return store;
}

/** Makes a process with one lease. */
function createLease(store: Store, holder: string) {
  const all = createLeases(store, holder);
  return {
    hold: async (now: number, seconds: number) => (await all.hold(["to mail"], now, seconds)).has("to mail"),
    release: () => all.release(),
  };
}

test("gives the lease to one process, and to another process only after the lease has expired", async () => {
  const store = await opened();
  const [one, other] = [createLease(store, "one"), createLease(store, "other")];

  assert.equal(await one.hold(0, 60), true);
  assert.equal(await other.hold(60_000 - 1, 60), false);
  assert.equal(await other.hold(60_000, 60), true);
  assert.equal(await one.hold(60_000, 60), false);
});

test("takes over a lease that was taken while the clock was hours ahead", async () => {
  const store = await opened();
  await createLease(store, "gone").hold(5 * hour, 60);

  assert.equal(await createLease(store, "other").hold(0, 60), true);
});

test("renews a lease that its holder took while the clock was hours ahead, and keeps it from other processes", async () => {
  const store = await opened();
  const [one, other] = [createLease(store, "one"), createLease(store, "other")];
  await one.hold(5 * hour, 60);

  assert.equal(await one.hold(0, 60), true);
  assert.equal(await other.hold(1000, 60), false);
  assert.equal(await other.hold(60_000, 60), true);
});

test("does not take over a lease with the longest possible lifetime", async () => {
  const store = await opened();
  await createLease(store, "one").hold(0, 600);

  assert.equal(await createLease(store, "other").hold(0, 1), false);
});

test("renews a lease in its second half, and not before", async () => {
  const store = await opened();
  const [one, other] = [createLease(store, "one"), createLease(store, "other")];
  await one.hold(0, 60);
  await one.hold(29_000, 60);
  assert.equal((await store.find(leases, "to mail"))?.record["until"], 60_000);

  assert.equal(await one.hold(31_000, 60), true);
  assert.equal(await other.hold(90_000, 60), false);
  assert.equal(await other.hold(91_000, 60), true);
});

test("gives each receiver its own lease, and releases only those of one process", async () => {
  const store = await opened();
  const [one, other] = [createLeases(store, "one"), createLeases(store, "other")];
  await one.hold(["to mail"], 0, 60);

  assert.deepEqual([...(await other.hold(["to mail", "to web"], 1, 60))], ["to web"]);
  await one.release();
  assert.deepEqual([...(await one.hold(["to mail", "to web"], 2, 60))], ["to mail"]);
});

test("gives a lease that two processes take at the same time to one of them", async () => {
  const store = await opened();
  const all = ["one", "other", "third"].map((name) => createLease(store, name));
  for (const now of [0, 60_000]) {
    const taken = await Promise.all(all.map((each) => each.hold(now, 60)));
    assert.deepEqual(taken.filter((each) => each).length, 1);
  }
});
