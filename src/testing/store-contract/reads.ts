import assert from "node:assert/strict";
import type { Value, Where } from "../../store/store.ts";
import { readId, inserted, matching, people, visits, where, type Promises } from "./library.ts";

/** Promises about finding rows. */
export function promiseReads(promises: Promises): void {
  promiseRows(promises);
  promiseFolded(promises);
  promiseValues(promises);
}

function promiseRows(promises: Promises): void {
  promises("finds a row by its key, with the id first and the columns in order", async (store) => {
    const ada = await inserted(store, people, { notes: [1], name: "Ada", active: true, email: "ada@example.com" });

    const found = await store.find(people, readId(ada));

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

  promises("matches every row by a condition or by its negation, even if the value is null", async (store) => {
    for (const age of [1, 2, null]) await inserted(store, people, { name: "any", ...(age === null ? {} : { age }) });
    const rows: readonly (readonly [where: Where, ids: readonly number[]])[] = [
      [where("age", "eq", 1), [1]],
      [{ not: where("age", "eq", 1) }, [2, 3]],
      [{ not: where("age", "ne", 1) }, [1, 3]],
      [{ not: where("age", "in", [1, 2]) }, [3]],
      [{ not: { not: where("age", "gt", 1) } }, [2]],
      [{ not: { all: [] } }, []],
      [{ not: { any: [] } }, [1, 2, 3]],
      [{ not: { any: [where("age", "eq", 1), { not: where("age", "null", true) }] } }, [3]],
      [{ all: [where("id", "gt", 1), { not: { all: [where("age", "eq", 2), where("name", "eq", "any")] } }] }, [3]],
    ];

    for (const [condition, ids] of rows) {
      assert.deepEqual(await matching(store, condition, "id"), ids, JSON.stringify(condition));
      assert.equal(await store.count(people, condition), ids.length);
    }
  });

  promises("returns null for a missing row, with any key", async (store) => {
    await inserted(store, visits, { times: 1 }, "here");

    assert.equal(await store.find(people, 1), null);
    assert.equal(await store.find(people, Number.MAX_SAFE_INTEGER), null);
    for (const key of ["", "HERE", "here ", "' OR 1=1 --", "x".repeat(10_000), "🦆"])
      assert.equal(await store.find(visits, key), null);
    assert.equal(await store.findBy(people, "badge", "none"), null);
    assert.equal(await store.findBy(people, "email", "none@example.com"), null);
  });
}

function promiseFolded(promises: Promises): void {
  promises("ignores case in icontains and istarts, in every alphabet", async (store) => {
    await inserted(store, people, { name: "Elodie", email: "ÉLODIE@example.com" });
    await inserted(store, people, { name: "Ann", email: "ann@EXAMPLE.com" });

    assert.deepEqual(await matching(store, where("email", "istarts", "élo"), "id"), [1]);
    assert.deepEqual(await matching(store, where("email", "istarts", "E\u0301LO"), "id"), [1]);
    assert.deepEqual(await matching(store, where("email", "istarts", "lo"), "id"), []);
    assert.deepEqual(await matching(store, where("email", "icontains", "@Example"), "id"), [1, 2]);
    assert.deepEqual(await matching(store, where("email", "icontains", "%"), "id"), []);
  });

  promises("finds a part of a word with icontains and istarts, also with a final sigma", async (store) => {
    await inserted(store, people, { name: "Hasapis", email: "ΧΑΣΑΠΗΣ@example.com" });

    for (const [operator, value] of [
      ["istarts", "ΧΑΣ"],
      ["istarts", "χασ"],
      ["istarts", "Χασαπης"],
      ["icontains", "ΑΣ"],
      ["icontains", "Σ@EXAMPLE"],
      ["icontains", "ς"],
    ] as const)
      assert.deepEqual(await matching(store, where("email", operator, value), "id"), [1], `${operator} ${value}`);
    assert.deepEqual(await matching(store, where("email", "istarts", "ΧΑΣΣ"), "id"), []);
  });
}

function promiseValues(promises: Promises): void {
  promises("reads back every value as it was written", async (store) => {
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
        assert.deepEqual((await store.find(people, readId(row)))?.record[column], value);
        const page = await store.listJSON({
          collection: people,
          where: where("id", "eq", readId(row)),
          sort: [{ column: "id" }],
          limit: 1,
        });
        assert.deepEqual(JSON.parse(page.json)[0][column], value);
      }
    }
  });

  promises("returns a decimal with exactly the digits of its scale", async (store) => {
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

  promises("finds a folded column without regard to case, and shows it as written", async (store) => {
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

  promises("finds a unique column with regard to case", async (store) => {
    const row = await inserted(store, people, { name: "Ada", badge: "Aa" });

    assert.deepEqual(await store.findBy(people, "badge", "Aa"), row);
    assert.equal(await store.findBy(people, "badge", "aa"), null);
  });
}
