import assert from "node:assert/strict";
import { keyOf, type Change, type Outcome } from "../../store/store.ts";
import {
  insert,
  inserted,
  lockers,
  matching,
  people,
  pets,
  treatments,
  visits,
  where,
  write,
  written,
  type Promises,
} from "./library.ts";

/** Promises about unique values and references. */
export function promiseRules(promises: Promises): void {
  promiseUniqueValues(promises);
  promiseReferences(promises);
}

function promiseUniqueValues(promises: Promises): void {
  promises("refuses a value that a unique column already contains, and names the column", async (store) => {
    await inserted(store, people, { name: "Ada", email: "Ada@Example.com", badge: "1" });
    await inserted(store, people, { name: "Eve", email: "eve@example.com", badge: "2" });
    const taken = (column: string): Outcome => ({ kind: "taken", change: 0, column });

    assert.deepEqual(await write(store, insert(people, { name: "x", email: "aDA@example.COM" })), taken("email"));
    assert.deepEqual(await write(store, insert(people, { name: "x", badge: "1" })), taken("badge"));
    assert.deepEqual(await write(store, insert(people, { name: "x" }, 2)), taken("id"));
    assert.deepEqual(
      await write(store, { kind: "update", collection: people, key: 2, values: { email: "ADA@EXAMPLE.COM" } }),
      taken("email"),
    );
    assert.deepEqual(
      await write(store, { kind: "updateAll", collection: people, where: { all: [] }, values: { badge: "3" } }),
      taken("badge"),
    );
    await inserted(store, visits, { times: 1 }, "a");
    assert.deepEqual(await write(store, insert(visits, { times: 1 }, "a")), taken("id"));
    assert.deepEqual(await matching(store, null), ["Ada", "Eve"]);
  });

  promises(
    "accepts a unique value that the changed row already has, or that an earlier change of the transaction has freed",
    async (store) => {
      await inserted(store, people, { name: "Ada", email: "ada@example.com", badge: "1" });

      await written(store, {
        kind: "update",
        collection: people,
        key: 1,
        values: { email: "ADA@example.com", badge: "1" },
      });
      await written(
        store,
        { kind: "delete", collection: people, key: 1 },
        insert(people, { name: "Eve", email: "ada@EXAMPLE.com", badge: "1" }),
      );

      assert.deepEqual(await matching(store, where("email", "eq", "Ada@Example.com")), ["Eve"]);
    },
  );

  promises("accepts many rows with null in a unique column", async (store) => {
    await written(
      store,
      insert(people, { name: "a", email: null, badge: null }),
      insert(people, { name: "b", email: null }),
      insert(people, { name: "c" }),
    );

    assert.equal(await store.count(people, null), 3);
  });

  promises("refuses a row whose values in a unique set another row has, and names the columns", async (store) => {
    const row = (hall: string, number: number | null): Change => insert(lockers, { hall, number });
    await written(store, row("a", 1), row("a", 2), row("A", 1), row("a", null), row("a", null));
    const taken = (change: number): Outcome => ({ kind: "taken", change, column: null, columns: ["hall", "number"] });

    assert.deepEqual(await write(store, row("a", 1)), taken(0));
    assert.deepEqual(await write(store, row("b", 1), row("b", 1)), taken(1));
    assert.deepEqual(await write(store, ...Array.from({ length: 20 }, (_, at) => row("c", at % 19))), taken(19));
    assert.deepEqual(
      await write(store, { kind: "update", collection: lockers, key: 2, values: { number: 1 } }),
      taken(0),
    );
    assert.equal(await store.count(lockers, null), 5);
  });

  promises("accepts a unique value from only one of several concurrent writes", async (store) => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        write(store, insert(people, { name: `n${at}`, email: at % 2 === 0 ? "ONE@x" : "one@X" })),
      ),
    );

    assert.equal(outcomes.filter(({ kind }) => kind === "written").length, 1);
    assert.equal(outcomes.filter(({ kind }) => kind === "taken").length, 19);
  });
}

function promiseReferences(promises: Promises): void {
  promises("refuses a reference to a missing row, and names the column", async (store) => {
    await written(store, insert(people, { name: "Ada" }), insert(pets, { person_id: keyOf(0), name: "Rex" }));
    const dangling = (change: number, column: string): Outcome => ({ kind: "dangling", change, column });

    assert.deepEqual(
      await write(store, insert(visits, { times: 1 }, "a"), insert(pets, { person_id: 9, name: "x" })),
      dangling(1, "person_id"),
    );
    assert.deepEqual(
      await write(store, { kind: "update", collection: pets, key: 1, values: { person_id: 9 } }),
      dangling(0, "person_id"),
    );
    assert.deepEqual(
      await write(store, { kind: "updateAll", collection: pets, where: { all: [] }, values: { person_id: 9 } }),
      dangling(0, "person_id"),
    );
    await written(store, insert(treatments, { pet_id: null }));
  });

  promises("deletes the rows whose cascading reference leads to a deleted row", async (store) => {
    await written(
      store,
      insert(people, { name: "Ada" }),
      insert(people, { name: "Eve" }),
      insert(pets, { person_id: 1, name: "Rex" }),
      insert(pets, { person_id: 1, name: "Tom" }),
      insert(pets, { person_id: 2, name: "Kit" }),
    );

    await written(store, { kind: "delete", collection: people, key: 1 });

    assert.deepEqual(await matching(store, null, "name", pets), ["Kit"]);
    await written(store, { kind: "deleteAll", collection: people, where: { all: [] } });
    assert.equal(await store.count(pets, null), 0);
  });

  promises("refuses to delete a referenced row, whether by its key, by a condition or by a cascade", async (store) => {
    await written(
      store,
      insert(people, { name: "Ada" }),
      insert(pets, { person_id: 1, name: "Rex" }),
      insert(treatments, { pet_id: 1 }),
    );
    const referenced: Outcome = { kind: "referenced", change: 0, collection: "treatments" };

    assert.deepEqual(await write(store, { kind: "delete", collection: pets, key: 1 }), referenced);
    assert.deepEqual(
      await write(store, { kind: "deleteAll", collection: pets, where: where("name", "eq", "Rex") }),
      referenced,
    );
    assert.deepEqual(await write(store, { kind: "delete", collection: people, key: 1 }), referenced);
    assert.deepEqual(await write(store, { kind: "deleteAll", collection: people, where: { all: [] } }), referenced);
    await written(
      store,
      { kind: "deleteAll", collection: treatments, where: { all: [] } },
      { kind: "delete", collection: people, key: 1 },
    );
    assert.equal(await store.count(pets, null), 0);
  });
}
