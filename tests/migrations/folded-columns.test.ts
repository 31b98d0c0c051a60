import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Collection, Column, Store } from "../../src/door/stores.ts";
import { bothDatabases } from "../harness/both-databases.ts";

// A folded column also stores its text in a form for searches without regard to case. During an upgrade, an old program
// may write rows without this form.

const people: Collection = {
  name: "people",
  key: "integer",
  columns: [{ name: "name", type: "text", folded: true }],
};
const places: Collection = { ...people, name: "places", key: "text" };

const databases = bothDatabases();

/** Returns the ids of the rows whose name starts with a value, ignoring case. */
async function startingWith(store: Store, collection: Collection, value: string): Promise<readonly unknown[]> {
  const where = { column: "name", operator: "istarts", value } as const;
  const rows = await store.list({ collection, where, sort: [{ column: "id" }], limit: 100 });
  return rows.map(({ record }) => record["id"]);
}

test("finds, after the next start, rows that a program without folded columns has written", async (t) => {
  for (const database of await databases(t)) {
    const before = database.open();
    await before.open([people, places]);
    for (const name of ["Before", "Same"])
      await before.write({ changes: [{ kind: "insert", collection: people, values: { name } }] });
    await before.close();
    await database.run("UPDATE people SET name = 'ÄFTER' WHERE id = 1");
    await database.run("INSERT INTO people (id, _revision, name) VALUES (7, 7, 'Éva'), (8, 8, 'Plain')");
    // An older program folds these letters only to lower case.
    await database.run(
      "INSERT INTO people (id, _revision, name, _name_folded) VALUES (9, 9, 'ſeldom', 'ſeldom'), (10, 10, 'ΛΟΓΟΣ', 'λογος')",
    );
    await database.run("INSERT INTO places (id, _revision, name) VALUES ('p', 9, 'Paris')");

    const store = database.open();
    t.after(() => store.close());
    await store.open([people, places]);

    for (let look = 0; look < 500 && (await startingWith(store, places, "paris")).length === 0; look++) await wait(10);
    const expected = { before: [], äfter: [1], same: [2], "e\u0301va": [7], PLAIN: [8], SEL: [9], λογοσ: [10] };
    for (const [beginning, ids] of Object.entries(expected))
      assert.deepEqual(await startingWith(store, people, beginning), ids, `${database.engine}: ${beginning}`);
    assert.deepEqual(await startingWith(store, places, "par"), ["p"]);
  }
});

test("folds the stored texts in the form of the new declaration: case-folded, or in lower case if the column is unique", async (t) => {
  const declare = (more: Partial<Column>): Collection => ({
    ...people,
    columns: [{ name: "name", type: "text", ...more }],
  });
  for (const database of await databases(t)) {
    /** Opens the store with this declaration, looks, and closes it. */
    const open = async <T>(collection: Collection, look: (store: Store) => Promise<T>): Promise<T> => {
      const store = database.open();
      await store.open([collection]);
      try {
        return await look(store);
      } finally {
        await store.close();
      }
    };
    const [plain, folded, unique] = [declare({}), declare({ folded: true }), declare({ unique: "folded" })];
    const find = (collection: Collection, name: string) => async (store: Store) =>
      (await store.findBy(collection, "name", name))?.record["name"] ?? null;

    await open(plain, (store) =>
      store.write({
        changes: ["ſeldom", "Seldom", "ΣΑΣ", "σασ"].map((name) => ({
          kind: "insert",
          collection: plain,
          values: { name },
        })),
      }),
    );
    assert.deepEqual(await open(folded, (store) => startingWith(store, folded, "SELD")), [1, 2]);

    assert.equal(await open(unique, find(unique, "ſELDOM")), "ſeldom", database.engine);
    assert.equal(await open(unique, find(unique, "SELDOM")), "Seldom");
    assert.equal(await open(unique, find(unique, "σας")), "ΣΑΣ");
    assert.deepEqual(await open(unique, (store) => startingWith(store, unique, "SELD")), [2]);
  }
});
