import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { leases } from "./events.ts";
import { createLease } from "./lease.ts";

const hour = 3_600_000;

async function opened(): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([leases]);
  return store;
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
