import assert from "node:assert/strict";
import { keyOf, type Change, type Row } from "../../store/store.ts";
import {
  readId,
  insert,
  inserted,
  matching,
  people,
  pets,
  findRecord,
  visits,
  where,
  write,
  written,
  type Promises,
} from "./library.ts";

/** Promises about the effects of a transaction. */
export function promiseWrites(promises: Promises): void {
  promiseRows(promises);
  promiseStates(promises);
  promiseManyRows(promises);
  promiseCounters(promises);
}

function promiseRows(promises: Promises): void {
  promises("returns the row of each change of a transaction, with its new state", async (store) => {
    const ada = await inserted(store, people, { name: "Ada" });
    const eve = await inserted(store, people, { name: "Eve" });

    const rows = await written(
      store,
      { kind: "update", collection: people, key: readId(ada), values: { age: 36 } },
      { kind: "delete", collection: people, key: readId(eve) },
      insert(people, { name: "New" }),
      { kind: "updateAll", collection: people, where: where("name", "eq", "New"), values: { age: 1 } },
      { kind: "require", collection: people, where: { all: [] }, atLeast: 1, name: "some" },
      { kind: "deleteAll", collection: people, where: where("name", "eq", "Nobody") },
    );

    assert.deepEqual(
      rows.map((row) => row?.record["name"] ?? null),
      ["Ada", null, "New", null, null, null],
    );
    assert.equal(rows[2]!.record["age"], 1, "a later change of the same transaction shows");
    assert.deepEqual(await store.find(people, readId(rows[2]!)), rows[2]);
    assert.deepEqual(await store.find(people, 1), rows[0]);
  });

  promises("returns null for a row that the same transaction deletes again", async (store) => {
    const rows = await written(store, insert(visits, { times: 1 }, "a"), {
      kind: "delete",
      collection: visits,
      key: "a",
    });

    assert.deepEqual(rows, [null, null]);
    assert.equal(await store.find(visits, "a"), null);
  });

  promises("accepts a transaction without changes", async (store) => {
    assert.deepEqual(await write(store), { kind: "written", rows: [] });
  });

  promises("changes only the named columns in an update", async (store) => {
    const ada = await inserted(store, people, { name: "Ada", age: 36, email: "ada@example.com", notes: { a: 1 } });

    const [row] = await written(store, {
      kind: "update",
      collection: people,
      key: readId(ada),
      values: { age: null, email: "ADA@example.com" },
    });

    assert.deepEqual(row!.record, { ...ada.record, age: null, email: "ADA@example.com" });
    assert.notEqual(row!.revision, ada.revision);
    assert.deepEqual(await store.findBy(people, "email", "ada@EXAMPLE.com"), row);
  });

  promises("reports missing for an update or a delete of a missing row", async (store) => {
    const update: Change = { kind: "update", collection: people, key: 9, values: { name: "x" } };

    assert.deepEqual(await write(store, update), { kind: "missing", change: 0 });
    assert.deepEqual(await write(store, { ...update, revision: 1 }), { kind: "missing", change: 0 });
    assert.deepEqual(
      await write(store, insert(people, { name: "y" }), { kind: "delete", collection: people, key: 9 }),
      { kind: "missing", change: 1 },
    );
    assert.equal(await store.count(people, null), 0);
  });
}

function promiseStates(promises: Promises): void {
  promises("reports stale for an update or a delete with an older revision", async (store) => {
    const ada = await inserted(store, people, { name: "Ada" });
    const [now] = await written(store, {
      kind: "update",
      collection: people,
      key: 1,
      values: { name: "Ada L." },
      revision: ada.revision,
    });

    assert.deepEqual(
      await write(store, {
        kind: "update",
        collection: people,
        key: 1,
        values: { name: "lost" },
        revision: ada.revision,
      }),
      { kind: "stale", change: 0 },
    );
    assert.deepEqual(await write(store, { kind: "delete", collection: people, key: 1, revision: ada.revision }), {
      kind: "stale",
      change: 0,
    });
    assert.deepEqual(await store.find(people, 1), now);
    await written(store, { kind: "delete", collection: people, key: 1, revision: now!.revision });
    assert.equal(await store.find(people, 1), null);
  });

  promises("gives a row a new revision with each write", async (store) => {
    const seen = new Set<number>();
    const see = (row: Row | null): void => {
      assert.ok(row !== null && !seen.has(row.revision), "a revision came twice");
      seen.add(row.revision);
    };

    see(await inserted(store, visits, { times: 1 }, "a"));
    await written(store, { kind: "delete", collection: visits, key: "a" });
    see(await inserted(store, visits, { times: 1 }, "a"));
    see((await written(store, { kind: "update", collection: visits, key: "a", values: { times: 1 } }))[0]!);
    await written(store, { kind: "updateAll", collection: visits, where: { all: [] }, values: { place: "x" } });
    see(await store.find(visits, "a"));
    await written(store, { kind: "updateAll", collection: visits, where: { all: [] }, values: { place: "x" } });
    see(await store.find(visits, "a"));
    see((await written(store, { kind: "add", collection: visits, key: "a", column: "times", by: 1, values: {} }))[0]!);
    see(await inserted(store, people, { name: "a" }));
  });

  promises("makes all changes or none", async (store) => {
    await inserted(store, people, { name: "Ada", badge: "1" });

    const outcome = await write(
      store,
      { kind: "update", collection: people, key: 1, values: { name: "changed" } },
      insert(visits, { times: 1 }, "a"),
      { kind: "updateAll", collection: people, where: { all: [] }, values: { age: 1 } },
      insert(people, { name: "Eve", badge: "1" }),
    );

    assert.deepEqual(outcome, { kind: "taken", change: 3, column: "badge" });
    assert.equal(await store.find(visits, "a"), null);
    assert.deepEqual(await matching(store, null), ["Ada"]);
    assert.equal((await findRecord(store, people, 1))!["age"], null);
  });
}

function promiseManyRows(promises: Promises): void {
  promises("limits the number of rows of updateAll and deleteAll", async (store) => {
    for (const name of ["Ada", "Ada", "Ada", "Eve"]) await inserted(store, people, { name });
    const isAda = where("name", "eq", "Ada");

    await written(store, { kind: "updateAll", collection: people, where: isAda, values: { age: 1 }, atMost: 2 });
    assert.equal(await store.count(people, where("age", "eq", 1)), 2);
    await written(store, { kind: "deleteAll", collection: people, where: isAda, atMost: 2 });
    assert.equal(await store.count(people, isAda), 1);
    await written(store, { kind: "deleteAll", collection: people, where: isAda, atMost: 2 });
    await written(store, { kind: "deleteAll", collection: people, where: isAda, atMost: 2 });
    assert.equal(await store.count(people, null), 1);
  });

  promises("changes exactly the matching rows in updateAll and deleteAll", async (store) => {
    await written(store, ...["a", "b", "c"].map((name) => insert(people, { name, email: `${name}@x` })));

    await written(store, {
      kind: "updateAll",
      collection: people,
      where: where("name", "in", ["a", "b"]),
      values: { age: 7, height: "1.5", active: false, notes: {} },
    });
    await written(store, { kind: "deleteAll", collection: people, where: where("email", "eq", "B@X") });

    assert.deepEqual(await matching(store, where("age", "eq", 7)), ["a"]);
    assert.deepEqual(await matching(store, null), ["a", "c"]);
    assert.deepEqual(await written(store, { kind: "deleteAll", collection: people, where: { any: [] } }), [null]);
    assert.equal(await store.count(people, null), 2);
  });

  promises("inserts a row with the key that an earlier change of the transaction assigned", async (store) => {
    const [ada, pet] = await written(
      store,
      insert(people, { name: "Ada" }),
      insert(pets, { person_id: keyOf(0), name: "Rex" }),
    );
    assert.equal(pet!.record["person_id"], readId(ada!));

    const [, twin] = await written(
      store,
      insert(people, { name: "Eve" }),
      { kind: "insert", collection: people, key: 77, values: { name: "x" } },
      { kind: "insert", collection: pets, key: keyOf(0), values: { person_id: keyOf(1), name: "y" } },
    );
    assert.equal(readId(twin!), 77);
    assert.equal((await findRecord(store, pets, 2))!["person_id"], 77);
  });

  promises("stores an object in a json column as data, even if it looks like a key", async (store) => {
    const [, row] = await written(
      store,
      insert(people, { name: "a" }),
      insert(people, { name: "b", notes: { keyOf: 0 } }),
    );

    assert.deepEqual(row!.record["notes"], { keyOf: 0 });
  });
}

function promiseCounters(promises: Promises): void {
  promises("creates a row with the first add, and then adds to it", async (store) => {
    const add: Change = {
      kind: "add",
      collection: visits,
      key: "home",
      column: "times",
      by: 2,
      values: { place: "here" },
    };

    const [first] = await written(store, add);
    const [second] = await written(store, { ...add, by: -5, values: { place: "ignored" } });

    assert.deepEqual(first!.record, { id: "home", times: 2, place: "here" });
    assert.deepEqual(second!.record, { id: "home", times: -3, place: "here" });
  });

  promises("adds every one of many concurrent additions", async (store) => {
    await Promise.all(
      Array.from({ length: 100 }, () =>
        written(store, { kind: "add", collection: visits, key: "home", column: "times", by: 1, values: {} }),
      ),
    );

    assert.equal((await findRecord(store, visits, "home"))!["times"], 100);
  });

  promises("refuses the transaction if a `require` condition is false after the changes before it", async (store) => {
    const none: Change = {
      kind: "require",
      collection: people,
      where: where("name", "eq", "Ada"),
      atMost: 0,
      name: "none yet",
    };
    const one: Change = { ...none, atLeast: 1, atMost: 1, name: "exactly one" };

    assert.deepEqual(await write(store, one), { kind: "refused", change: 0, name: "exactly one" });
    await written(store, none, insert(people, { name: "Ada" }), one);
    assert.deepEqual(await write(store, insert(people, { name: "Ada" }), one), {
      kind: "refused",
      change: 1,
      name: "exactly one",
    });
    for (const each of [none, { ...none, isGuarded: true }])
      assert.deepEqual(await write(store, each), { kind: "refused", change: 0, name: "none yet" });
    assert.equal(await store.count(people, null), 1);
  });
}
