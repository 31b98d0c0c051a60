import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "../../core/observation.ts";
import { sqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { createCourier } from "./courier.ts";
import { leases, mountedEvents } from "./events.ts";

test("logs the reason of a failed round once until a round succeeds", async () => {
  const store = sqliteStore({ path: ":memory:" });
  await store.open([mountedEvents.collection, leases]);
  const faults = [new Error("away"), new Error("away"), new Error("full"), null, null, new Error("full")];
  const away: Store = {
    ...store,
    list: async (query) => {
      const fault = faults.shift();
      if (fault) throw fault;
      return store.list(query);
    },
  };
  const messages: unknown[] = [];
  const observe = (each: Observation): void =>
    void messages.push(each.kind === "notice" ? String(each.error) : each.kind);
  const most = { attempts: 12, timeoutSeconds: 30, random: Math.random };
  const courier = createCourier({ store: away, subscribers: [], workers: [], observe, now: () => 0, ...most });

  while (faults.length > 0) {
    courier.look();
    await new Promise(setImmediate);
  }
  await new Promise(setImmediate);
  await courier.stop();

  assert.deepEqual(messages, ["Error: away", "Error: full", "Error: full"]);
});
