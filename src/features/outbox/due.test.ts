import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { ListQuery, Store } from "../../store/store.ts";
import { awaitedReceivers, dueEvents } from "./due.ts";
import { mountedEvents } from "./events.ts";

const { collection } = mountedEvents;
const now = Date.parse("2026-01-31T09:30:00Z");
const minute = 60_000;

/**
 * Makes a store with events. `dueAgo` is the time since the event became due, in milliseconds. `failed` is true if the
 * last try has failed. `planned` is true for a job at a chosen time.
 */
async function storeWith(
  ...events: readonly (readonly [receiver: string, dueAgo: number, failed?: boolean, planned?: boolean])[]
): Promise<Store> {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([collection]);
  for (const [receiver, dueAgo, failed = false, planned = false] of events) {
    const due_at = new Date(now - dueAgo).toISOString();
    const values = {
      receiver,
      subscriber: "",
      resource: "notes",
      record: 1,
      record_uuid: null,
      kind: "create",
      action: null,
    } as const;
    const rest = { planned, at: due_at, attempts: 0, due_at, failed, error: null, cause: {} } as const;
    await store.write({ changes: [{ kind: "insert", collection, values: { ...values, ...rest } }] });
  }
  return store;
}

async function loadIds(
  store: Store,
  to: string,
  options: { readonly but?: readonly number[]; readonly most?: number } = {},
) {
  const { but = [], most = 16 } = options;
  return (await dueEvents(store, { to, but, most, now, column: "receiver" })).map(({ record }) => record["id"]);
}

test("returns the due events of a subscriber, the longest due first", async () => {
  const store = await storeWith(["mail", 0], ["mail", minute], ["web", 5], ["mail", -1], ["mail", 9, true]);

  assert.deepEqual(await loadIds(store, "mail"), [2, 1]);
  assert.deepEqual(await loadIds(store, "mail", { but: [2] }), [1]);
  assert.deepEqual(await loadIds(store, "mail", { most: 1 }), [2]);
  assert.deepEqual(await awaitedReceivers(store, "receiver"), ["mail", "web"]);
});

test("returns an event that was written while the clock was hours ahead, but not an event that is postponed for an hour", async () => {
  const store = await storeWith(["mail", -300 * minute], ["mail", -60 * minute], ["mail", 1]);

  assert.deepEqual(await loadIds(store, "mail"), [3, 1]);
});

test("returns a job only after its chosen time, sorted by due time together with events", async () => {
  const store = await storeWith(
    ["mail", 2],
    ["mail", 3, false, true],
    ["mail", -90 * 24 * 60 * minute, false, true],
    ["mail", 1, false, true],
    ["mail", -1, false, true],
  );

  assert.deepEqual(await loadIds(store, "mail"), [2, 1, 4]);
  assert.deepEqual(await loadIds(store, "mail", { most: 1 }), [2]);
});

test("finds the due events of a subscriber by the index, without reading the events of other subscribers", async () => {
  const store = await storeWith(["mail", 1], ["web", 1], ["web", 1]);
  const queries: ListQuery[] = [];
  const watched: Store = { ...store, list: (query) => (queries.push(query), store.list(query)) };

  await awaitedReceivers(watched, "receiver");
  await dueEvents(watched, { to: "mail", but: [7, 8], most: 16, now, column: "receiver" });

  const plans = await Promise.all(queries.map(async (query) => (await store.plan!(query)).join()));
  assert.equal(plans.length, 6);
  for (const plan of plans.slice(0, 3)) assert.match(plan, /^SEARCH outbox USING INDEX .* \(receiver>\?\)$/);
  for (const plan of plans.slice(3))
    assert.match(
      plan,
      /^SEARCH outbox USING INDEX .* \(receiver=\? AND failed=\? AND planned=\? AND due_at[<>]\?\),LIST/,
    );
});
