import assert from "node:assert/strict";
import { StoreUnavailable, type Value, type Where } from "../../store/store.ts";
import { idOf, inserted, insert, matching, people, visits, where, written, type Promises } from "./library.ts";

/** Promises about finding rows. */
export function promiseReads(promises: Promises): void {
  promises("a row is found by its key, the id first and the columns as declared", async (store) => {
    const ada = await inserted(store, people, { notes: [1], name: "Ada", active: true, email: "ada@example.com" });

    const found = await store.find(people, idOf(ada));

    assert.deepEqual(found, ada);
    assert.deepEqual(Object.keys(found.record), [
      "id",
      "name",
      "email",
      "badge",
      "age",
      "active",
      "height",
      "born_at",
      "notes",
    ]);
    assert.deepEqual(found.record, {
      id: 1,
      name: "Ada",
      email: "ada@example.com",
      badge: null,
      age: null,
      active: true,
      height: null,
      born_at: null,
      notes: [1],
    });
  });

  promises("icontains and istarts do not regard case, in whatever alphabet", async (store) => {
    await inserted(store, people, { name: "Elodie", email: "ÉLODIE@example.com" });
    await inserted(store, people, { name: "Ann", email: "ann@EXAMPLE.com" });

    assert.deepEqual(await matching(store, where("email", "istarts", "élo"), "id"), [1]);
    assert.deepEqual(await matching(store, where("email", "istarts", "E\u0301LO"), "id"), [1]);
    assert.deepEqual(await matching(store, where("email", "istarts", "lo"), "id"), []);
    assert.deepEqual(await matching(store, where("email", "icontains", "@Example"), "id"), [1, 2]);
    assert.deepEqual(await matching(store, where("email", "icontains", "%"), "id"), []);
  });

  promises("what is not there is null, whatever the key looks like", async (store) => {
    await inserted(store, visits, { times: 1 }, "here");

    assert.equal(await store.find(people, 1), null);
    assert.equal(await store.find(people, Number.MAX_SAFE_INTEGER), null);
    for (const key of ["", "HERE", "here ", "' OR 1=1 --", "x".repeat(10_000), "🦆"])
      assert.equal(await store.find(visits, key), null);
    assert.equal(await store.findBy(people, "badge", "none"), null);
    assert.equal(await store.findBy(people, "email", "none@example.com"), null);
  });

  promises("every value reads back as it was written", async (store) => {
    const values: Record<string, Value[]> = {
      age: [0, -1, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
      name: [
        "",
        " ",
        'O\'Reilly "quoted" \\ `',
        "line\nbreak\ttab",
        "ÅÅ 🦆 漢字 \u{10ffff}",
        "%_?$1:a@b",
        "x".repeat(100_000),
      ],
      active: [true, false],
      height: ["0.00", "1.75", "-1.75", "-0.05", "9999999999.99", "-9999999999.99", "123456789012345.67"],
      born_at: ["2026-01-31T09:30:00.000Z", "0001-01-01T00:00:00.000Z"],
      notes: [{ a: [1, 1.5, null, true, '"}\n'], b: { c: {} } }, [], "text", 0, false, { 'ключ "': "☃" }],
    };

    for (const [column, all] of Object.entries(values)) {
      for (const value of all) {
        const row = await inserted(store, people, { name: "any", [column]: value });
        assert.deepEqual(row.record[column], value);
        assert.deepEqual((await store.find(people, idOf(row)))?.record[column], value);
        const page = await store.listJSON({
          collection: people,
          where: where("id", "eq", idOf(row)),
          sort: [{ column: "id" }],
          limit: 1,
        });
        assert.deepEqual(JSON.parse(page.json)[0][column], value);
      }
    }
  });

  promises("a decimal is shown with exactly its digits", async (store) => {
    const shown: Record<string, string> = {
      "12": "12.00",
      "12.5": "12.50",
      "0012.500": "12.50",
      "-0": "0.00",
      "-0.5": "-0.50",
      "0.01": "0.01",
    };

    for (const [text, expected] of Object.entries(shown)) {
      const row = await inserted(store, people, { name: "any", height: text });
      assert.equal(row.record["height"], expected);
    }
  });

  promises("a folded column is found without regard to case and shown as written", async (store) => {
    const row = await inserted(store, people, { name: "É", email: "ÉLODIE.Straẞe@Example.com" });

    for (const spelling of [
      "ÉLODIE.Straẞe@Example.com",
      "élodie.straße@example.COM",
      "E\u0301lodie.straße@example.com",
    ]) {
      assert.deepEqual(await store.findBy(people, "email", spelling), row);
      assert.deepEqual(await matching(store, where("email", "eq", spelling), "id"), [1]);
      assert.deepEqual(await matching(store, where("email", "in", ["other", spelling]), "id"), [1]);
      assert.deepEqual(await matching(store, where("email", "ne", spelling), "id"), []);
    }
    assert.deepEqual(await matching(store, where("email", "starts", "éLODIE"), "id"), []);
    assert.deepEqual(await matching(store, where("email", "starts", "ÉLODIE"), "id"), [1]);
  });

  promises("a unique column is found with regard to case", async (store) => {
    const row = await inserted(store, people, { name: "Ada", badge: "Aa" });

    assert.deepEqual(await store.findBy(people, "badge", "Aa"), row);
    assert.equal(await store.findBy(people, "badge", "aa"), null);
  });

  promises("conditions select what they say", async (store) => {
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
      // Compared as numbers: as text, 9.50 would be more than 10.00.
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

  promises("null equals nothing and differs from nothing", async (store) => {
    await written(store, insert(people, { name: "Ann", age: 1 }), insert(people, { name: "Bob" }));

    for (const operator of ["eq", "ne", "lt", "lte", "gt", "gte"] as const) {
      assert.deepEqual(await matching(store, where("age", operator, null)), [], operator);
    }
    assert.deepEqual(await matching(store, where("age", "ne", 2)), ["Ann"]);
  });

  promises("text compares by code point", async (store) => {
    // In UTF-16 the last two would change places, in most languages' order all of them.
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

  promises("a long list of values is no problem", async (store) => {
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

  promises("a column that was not declared is a fault of the program", async (store) => {
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

  promises("a store that is closed says so", async (store) => {
    await store.check();
    await store.close();

    await assert.rejects(async () => store.find(people, 1), StoreUnavailable);
    await assert.rejects(async () => store.count(people, null), StoreUnavailable);
    await assert.rejects(store.write({ changes: [insert(people, { name: "late" })] }), StoreUnavailable);
    await assert.rejects(store.check(), StoreUnavailable);
    await store.close();
  });
}
