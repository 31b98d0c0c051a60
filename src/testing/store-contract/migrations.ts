import assert from "node:assert/strict";
import { MigrationNeeded, type Collection, type Column, type Store } from "../../store/store.ts";
import {
  insert,
  inserted,
  people,
  findRecord,
  visits,
  where,
  write,
  written,
  type TestDatabase,
  type Promises,
} from "./library.ts";

const plants: Collection = {
  name: "plants",
  key: "integer",
  columns: [
    { name: "name", type: "text" },
    { name: "price", type: "decimal", scale: 2, nullable: true },
  ],
};

/** Promises about declarations that change. */
export function promiseMigrations(promises: Promises): void {
  promiseColumns(promises);
  promiseRefusals(promises);
  promiseLosses(promises);
}

function promiseColumns(promises: Promises): void {
  promises("keeps written rows after a restart", async (store, { reopen }) => {
    const ada = await inserted(store, people, { name: "Ada", email: "ada@example.com" });
    await store.close();

    const again = await reopen();
    await again.open([people, visits]);

    assert.deepEqual(await again.find(people, 1), ada);
    assert.deepEqual(await again.findBy(people, "email", "ADA@example.com"), ada);
    assert.notEqual((await inserted(again, visits, { times: 1 }, "a")).revision, ada.revision);
  });

  promises("adds new columns, with the default for existing rows", async (_, place) => {
    const store = await reopenedWith(place, plants);
    const before = await inserted(store, plants, { name: "fern", price: "2" });
    const grown = withColumns([
      ...plants.columns,
      { name: "code", type: "text", nullable: true, unique: "folded" },
      { name: "hardy", type: "boolean", default: true },
      { name: "weight", type: "decimal", scale: 3, default: "0.5" },
      { name: "kind", type: "text", default: "it's a 'plant'" },
      { name: "tags", type: "json", default: ["new"] },
      { name: "owner_id", type: "integer", nullable: true, references: { collection: "people", onDelete: "restrict" } },
    ]);

    const again = await reopenedWith(place, grown, people);

    assert.deepEqual(await findRecord(again, grown, 1), {
      ...before.record,
      code: null,
      hardy: true,
      weight: "0.500",
      kind: "it's a 'plant'",
      tags: ["new"],
      owner_id: null,
    });
    await written(again, { kind: "update", collection: grown, key: 1, values: { code: "Aa" } });
    assert.deepEqual(await write(again, insert(grown, { name: "moss", code: "aA" })), {
      kind: "taken",
      change: 0,
      column: "code",
    });
    assert.deepEqual(await write(again, insert(grown, { name: "moss", owner_id: 5 })), {
      kind: "dangling",
      change: 0,
      column: "owner_id",
    });
    assert.equal((await inserted(again, grown, { name: "moss" })).record["kind"], "it's a 'plant'");
  });

  promises("keeps a column that is no longer declared, if new rows need no value in it", async (_, place) => {
    await inserted(await reopenedWith(place, plants), plants, { name: "fern", price: "2" });

    const smaller = await reopenedWith(place, withColumns(plants.columns.slice(0, 1)));
    assert.deepEqual((await inserted(smaller, withColumns(plants.columns.slice(0, 1)), { name: "moss" })).record, {
      id: 2,
      name: "moss",
    });

    const again = await reopenedWith(place, plants);
    assert.deepEqual(await findRecord(again, plants, 1), { id: 1, name: "fern", price: "2.00" });
  });
}

function promiseRefusals(promises: Promises): void {
  promises(
    "adds a unique rule if all values are unique, and keeps the values when the rule is removed",
    async (_, place) => {
      const unique = withColumns([{ name: "name", type: "text", unique: "folded" }, plants.columns[1]!]);
      await inserted(await reopenedWith(place, plants), plants, { name: "Fern" });

      const again = await reopenedWith(place, unique);
      assert.equal((await again.findBy(unique, "name", "FERN"))?.record["name"], "Fern");
      assert.deepEqual(await write(again, insert(unique, { name: "fern" })), {
        kind: "taken",
        change: 0,
        column: "name",
      });

      const free = await reopenedWith(place, plants);
      await inserted(free, plants, { name: "fern" });
      assert.equal(await free.count(plants, where("name", "eq", "fern")), 1);
    },
  );

  promises("migrates an empty table to any declaration", async (_, place) => {
    await reopenedWith(place, plants);
    const changed: Collection = {
      name: "plants",
      key: "text",
      columns: [
        { name: "name", type: "integer" },
        { name: "size", type: "integer" },
      ],
    };

    const again = await reopenedWith(place, changed);

    assert.deepEqual((await inserted(again, changed, { name: 1, size: 2 }, "fern")).record, {
      id: "fern",
      name: 1,
      size: 2,
    });
  });
}

function promiseLosses(promises: Promises): void {
  promises("refuses a migration that would lose data, lists every problem, and changes nothing", async (_, place) => {
    const store = await reopenedWith(place, plants);
    await written(store, insert(plants, { name: "fern" }), insert(plants, { name: "FERN" }));
    const before = await store.find(plants, 1);
    const cases: [Collection, RegExp[]][] = [
      [withColumns([...plants.columns, { name: "size", type: "integer" }]), [/plants\.size/]],
      [withColumns([{ name: "name", type: "integer" }, plants.columns[1]!]), [/plants\.name/]],
      [
        withColumns([plants.columns[0]!, { name: "price", type: "decimal", scale: 3, nullable: true }]),
        [/plants\.price/],
      ],
      [withColumns([plants.columns[0]!, { name: "price", type: "integer", nullable: true }]), [/plants\.price/]],
      [withColumns([plants.columns[0]!, { name: "price", type: "decimal", scale: 2 }]), [/plants\.price/]],
      [withColumns([{ name: "name", type: "text", unique: "folded" }, plants.columns[1]!]), [/plants\.name/]],
      [withColumns(plants.columns.slice(1)), [/plants\.name/]],
      [{ ...plants, key: "text" }, [/plants/]],
      [
        withColumns([
          { name: "name", type: "integer" },
          { name: "size", type: "text" },
        ]),
        [/plants\.name/, /plants\.size/],
      ],
    ];

    await store.close();
    for (const [collection, expected] of cases) {
      const again = await place.reopen();
      await assert.rejects(again.open([collection, { ...visits, name: "made_by_nobody" }]), (error) => {
        assert.ok(error instanceof MigrationNeeded, String(error));
        for (const pattern of expected)
          assert.ok(
            error.problems.some((problem) => pattern.test(problem)),
            `${pattern} in ${error.message}`,
          );
        return true;
      });
      await again.close();
    }
    const again = await reopenedWith(place, plants);
    assert.deepEqual(await again.find(plants, 1), before);
    await inserted(again, plants, { name: "moss" });
  });

  promises("opens an empty database from two stores at once", async (_, place) => {
    const stores = await Promise.all([place.reopen(), place.reopen()]);
    const fresh = { ...plants, name: "at_once" };

    await Promise.all(stores.map((store) => store.open([fresh])));

    const rows = await Promise.all(stores.map((store) => inserted(store, fresh, { name: "x" })));
    assert.notEqual(rows[0]!.record["id"], rows[1]!.record["id"]);
  });
}

function withColumns(columns: readonly Column[]): Collection {
  return { ...plants, columns };
}

async function reopenedWith(place: TestDatabase, ...collections: Collection[]): Promise<Store> {
  const store = await place.reopen();
  await store.open(collections);
  return store;
}
