import assert from "node:assert/strict";
import { keyOf, StoreUnavailable, type Where } from "../../store/store.ts";
import { insert, matching, people, pets, where, written, type Promises } from "./library.ts";

/** Promises about conditions. */
export function promiseWhere(promises: Promises): void {
  promiseConditions(promises);
  promiseLinks(promises);
  promiseComparisons(promises);
  promisePrefixes(promises);
}

function promiseLinks(promises: Promises): void {
  promises("finds rows by the values of rows that refer to them", async (store) => {
    await written(
      store,
      insert(people, { name: "Ann" }),
      insert(people, { name: "Bob" }),
      insert(people, { name: "Zoë" }),
      insert(pets, { person_id: keyOf(0), name: "Rex" }),
      insert(pets, { person_id: keyOf(2), name: "Rex" }),
      insert(pets, { person_id: keyOf(2), name: "Tom" }),
    );
    const linked = (...values: string[]): Where => ({ link: pets, record: "person_id", linked: "name", values });
    const table: [Where, string[]][] = [
      [linked("Rex"), ["Ann", "Zoë"]],
      [linked("Tom", "Rex"), ["Ann", "Zoë"]],
      [linked("Tom"), ["Zoë"]],
      [linked("' OR 1=1"), []],
      [linked(), []],
      [{ not: linked("Tom") }, ["Ann", "Bob"]],
      [{ any: [linked("Tom"), where("name", "eq", "Bob")] }, ["Bob", "Zoë"]],
    ];
    for (const [condition, names] of table) {
      assert.deepEqual(await matching(store, condition), names, JSON.stringify(condition));
      assert.equal(await store.count(people, condition), names.length, JSON.stringify(condition));
    }
    // A row that matches twice is returned once.
    await written(store, insert(pets, { person_id: 1, name: "Rex" }));
    for (const descending of [false, true]) {
      const query = { collection: people, where: linked("Rex"), sort: [{ column: "id", descending }] };
      const [first, second] = await store.list({ ...query, limit: 9 });
      assert.equal((await store.listJSON({ ...query, limit: 1 })).more, true);
      const behind = await store.listJSON({ ...query, after: [first!.record["id"]!], limit: 1 });
      assert.deepEqual([behind.more, behind.last], [false, [second!.record["id"]]]);
    }
  });
}

function promiseConditions(promises: Promises): void {
  promises("selects exactly the rows that a condition describes", async (store) => {
    await written(
      store,
      insert(people, { name: "Ann", age: 9, active: true, height: "9.50", born_at: "2001-01-01T00:00:00.000Z" }),
      insert(people, { name: "Bob", age: 10, active: false, height: "10.00", born_at: "2002-01-01T00:00:00.000Z" }),
      insert(people, { name: "ann%_", age: -1, active: true, height: "-2.00", born_at: "2003-01-01T00:00:00.000Z" }),
      insert(people, { name: "Zoë", age: null, height: null }),
    );
    const table: [Where, string[]][] = [
      [where("name", "eq", "Ann"), ["Ann"]],
      [where("name", "eq", "Zoë"), ["Zoë"]],
      [where("name", "ne", "Ann"), ["Bob", "ann%_", "Zoë"]],
      [where("age", "lt", 10), ["Ann", "ann%_"]],
      [where("age", "lte", 10), ["Ann", "Bob", "ann%_"]],
      [where("age", "gt", 9), ["Bob"]],
      [where("age", "gte", 9), ["Ann", "Bob"]],
      [where("id", "in", [4, 1, 99]), ["Ann", "Zoë"]],
      [where("name", "in", ["Bob", "ann%_", "' OR 1=1"]), ["Bob", "ann%_"]],
      [where("active", "in", [true]), ["Ann", "ann%_"]],
      [where("height", "in", ["9.5", "10"]), ["Ann", "Bob"]],
      [where("name", "in", []), []],
      [where("active", "eq", false), ["Bob"]],
      // Compared as numbers: as text, 9.50 would be greater than 10.00.
      [where("height", "gt", "9.5"), ["Bob"]],
      [where("height", "eq", "9.5"), ["Ann"]],
      [where("height", "lt", "0"), ["ann%_"]],
      [where("born_at", "gte", "2002-01-01T00:00:00.000Z"), ["Bob", "ann%_"]],
      [where("name", "contains", "nn"), ["Ann", "ann%_"]],
      [where("name", "contains", "%_"), ["ann%_"]],
      [where("name", "contains", ""), ["Ann", "Bob", "ann%_", "Zoë"]],
      [where("name", "contains", "NN"), []],
      [where("name", "starts", "an"), ["ann%_"]],
      [where("name", "starts", "ann%"), ["ann%_"]],
      [where("name", "starts", "%"), []],
      [where("name", "starts", ""), ["Ann", "Bob", "ann%_", "Zoë"]],
      [where("name", "starts", "Zoë\u{10ffff}"), []],
      [where("age", "null", true), ["Zoë"]],
      [where("age", "null", false), ["Ann", "Bob", "ann%_"]],
      [{ all: [where("active", "eq", true), where("age", "gt", 0)] }, ["Ann"]],
      [
        { any: [where("name", "eq", "Bob"), { all: [where("active", "eq", true), where("age", "lt", 0)] }] },
        ["Bob", "ann%_"],
      ],
      [
        {
          all: [
            { any: [where("id", "eq", 1), where("id", "eq", 2)] },
            { any: [where("id", "eq", 2), where("id", "eq", 3)] },
          ],
        },
        ["Bob"],
      ],
      [{ all: [] }, ["Ann", "Bob", "ann%_", "Zoë"]],
      [{ any: [] }, []],
    ];

    for (const [condition, names] of table) {
      assert.deepEqual(await matching(store, condition), names, JSON.stringify(condition));
      assert.equal(await store.count(people, condition), names.length, JSON.stringify(condition));
    }
    assert.equal(await store.count(people, null), 4);
  });
}

function promisePrefixes(promises: Promises): void {
  promises(
    "finds texts that start with the last character before the surrogates, or with the last character of Unicode",
    async (store) => {
      const prefixes = ["\ud7ff", "a\ud7ff", "\u{10ffff}", "b\u{10ffff}\u{10ffff}", "\uffff"];
      const behind = ["\ue000", "a\ue000", "\ufffd", "a\ufffd", "c", "\u{10000}"];
      const names = [...prefixes.flatMap((prefix) => [prefix, `${prefix}z`]), ...behind];
      await written(store, ...names.map((name) => insert(people, { name })));

      for (const prefix of prefixes)
        assert.deepEqual(await matching(store, where("name", "starts", prefix)), [prefix, `${prefix}z`]);
    },
  );
}

function promiseComparisons(promises: Promises): void {
  promises("finds no row by a comparison with null", async (store) => {
    await written(store, insert(people, { name: "Ann", age: 1 }), insert(people, { name: "Bob" }));

    for (const operator of ["eq", "ne", "lt", "lte", "gt", "gte"] as const) {
      assert.deepEqual(await matching(store, where("age", operator, null)), [], operator);
    }
    assert.deepEqual(await matching(store, where("age", "ne", 2)), ["Ann"]);
  });

  promises("compares text by code point", async (store) => {
    // In UTF-16 order, the last two would be swapped. In the order of most languages, all of them would be in other
    // places.
    const names = ["Z", "a", "z", "é", "\uff5e", "🦆"];
    await written(store, ...names.toReversed().map((name) => insert(people, { name })));

    const rows = await store.list({
      collection: people,
      where: null,
      sort: [{ column: "name" }, { column: "id" }],
      limit: 10,
    });

    assert.deepEqual(
      rows.map(({ record }) => record["name"]),
      names,
    );
    assert.deepEqual(new Set(await matching(store, where("name", "gt", "z"))), new Set(names.slice(3)));
  });

  promises("accepts a long list of values", async (store) => {
    await written(store, ...Array.from({ length: 10 }, (_, at) => insert(people, { name: `n${at}` })));

    assert.equal(
      (
        await matching(
          store,
          where(
            "id",
            "in",
            Array.from({ length: 50_000 }, (_, at) => at + 6),
          ),
        )
      ).length,
      5,
    );
  });

  promises("throws for an undeclared column", async (store) => {
    const condition = where(`name" = '' OR "name`, "eq", "x");

    for (const ask of [
      () => store.list({ collection: people, where: condition, sort: [], limit: 1 }),
      () => store.listJSON({ collection: people, where: null, sort: [{ column: "nmae" }], limit: 1 }),
      () =>
        store.listJSON({
          collection: people,
          where: null,
          sort: [{ column: "id" }],
          columns: ["id", "secret"],
          limit: 1,
        }),
      () => store.count(people, condition),
      () => store.findBy(people, "nmae", "x"),
    ]) {
      await assert.rejects(async () => ask(), TypeError);
    }
  });

  promises("throws StoreUnavailable after it is closed", async (store) => {
    await store.check();
    await store.close();

    await assert.rejects(async () => store.find(people, 1), StoreUnavailable);
    await assert.rejects(async () => store.count(people, null), StoreUnavailable);
    await assert.rejects(store.write({ changes: [insert(people, { name: "late" })] }), StoreUnavailable);
    await assert.rejects(store.check(), StoreUnavailable);
    await store.close();
  });
}
