import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { leases } from "./events.ts";
import { leaseOf } from "./lease.ts";

const hour = 3_600_000;

async function opened(): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([leases]);
  return store;
}

test("a lease is one process's for its time, and then the next one's", async () => {
  const store = await opened();
  const [one, other] = [leaseOf(store, "one"), leaseOf(store, "other")];

  assert.equal(await one.hold(0, 60), true);
  assert.equal(await other.hold(60_000 - 1, 60), false);
  assert.equal(await other.hold(60_000, 60), true);
  assert.equal(await one.hold(60_000, 60), false);
});

test("a lease that was taken while the clock was hours ahead keeps nobody waiting once that is right again", async () => {
  const store = await opened();
  await leaseOf(store, "gone").hold(5 * hour, 60);

  assert.equal(await leaseOf(store, "other").hold(0, 60), true);
});

test("who has a lease from while the clock was hours ahead writes it anew, and so loses it to nobody", async () => {
  const store = await opened();
  const [one, other] = [leaseOf(store, "one"), leaseOf(store, "other")];
  await one.hold(5 * hour, 60);

  assert.equal(await one.hold(0, 60), true);
  assert.equal(await other.hold(1000, 60), false);
  assert.equal(await other.hold(60_000, 60), true);
});

test("a lease of the longest time of all is left to its process", async () => {
  const store = await opened();
  await leaseOf(store, "one").hold(0, 600);

  assert.equal(await leaseOf(store, "other").hold(0, 1), false);
});
