import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collection } from "../../src/door/stores.ts";
import { moveDatabase } from "../../src/service/system/databases.ts";
import { bothDatabases } from "../harness/both-databases.ts";

const databases = bothDatabases();

const things = (price: "integer" | "text"): Collection => ({
  name: "things",
  key: "integer",
  columns: [{ name: "price", type: price }],
});

test("copies the migration history when the data moves to another database and back, but no unfinished migration", async (t) => {
  const [[one, server], [back]] = [await databases(t), await databases(t)];
  const store = one.open();
  await store.open([things("integer")]);
  await store.write({ changes: [{ kind: "insert", collection: things("integer"), values: { price: 1 } }] });
  await store.close();
  await one.migrate([things("text")], { program: "0.7.0" });
  const breakOff = (): never => {
    throw Object.assign(new Error("broken off"), { errcode: 5 });
  };
  await assert.rejects(one.migrate([things("integer")], { program: "0.8.0", report: breakOff }), /broken off/);

  await moveDatabase(one.place, server.place, () => {});
  await moveDatabase(server.place, back.place, () => {});

  const { history } = await one.plan([things("text")]);
  assert.deepEqual(
    history.map(({ program, words, rows }) => [program, words, rows]),
    [["0.7.0", "things.price: convert it from integer to text", 1]],
  );
  assert.deepEqual((await server.plan([things("text")])).history, history);
  assert.deepEqual((await back.plan([things("text")])).history, history);
  const moved = server.open();
  await moved.open([things("text")]);
  assert.deepEqual((await moved.find(things("text"), 1))?.record, { id: 1, price: "1" });
  await moved.close();
});
