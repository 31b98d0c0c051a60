import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { postgres } from "../postgres/dialect.ts";
import { sqlite } from "../sqlite/dialect.ts";
import type { Collection, ListQuery, Operator, Where } from "../store.ts";
import { createParameters, type Dialect } from "./language/dialect.ts";
import { ask, play, playAsync, statement, type Rows, type Script, type ScriptStep } from "./language/script.ts";
import { readList } from "./list.ts";
import { createTableLookup } from "./schema/table.ts";
import { assign } from "./writes/writes.ts";

const notes: Collection = {
  name: "notes",
  key: "integer",
  columns: [
    { name: "text", type: "text" },
    { name: "email", type: "text", unique: "folded" },
    { name: "data", type: "json", nullable: true },
  ],
};

const dialects: readonly (readonly [name: string, dialect: Dialect])[] = [
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
];

for (const [name, dialect] of dialects) {
  const table = createTableLookup(dialect)(notes);
  const compile = (where: Where, after: string): string => {
    const sort = [{ column: "text", descending: true }, { column: "id" }];
    const query: ListQuery = { collection: notes, where, sort, after: [after, 1], limit: 10 };
    return readList(table, query).text;
  };

  test(`uses the same SQL text for all values, so that no value becomes SQL (${name})`, () => {
    const operators: Operator[] = ["eq", "ne", "lt", "lte", "gt", "gte", "contains"];
    const column = fc.constantFrom("text", "email");
    const hostile = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(`'; DROP TABLE notes; --`, `"`, `\\'`, "$1", "?"),
    );
    fc.assert(
      fc.property(column, fc.constantFrom(...operators), hostile, hostile, (of, operator, one, other) => {
        const [a, b] = [one, other].map((value) =>
          compile(
            { all: [{ column: of, operator, value }, { any: [{ column: of, operator: "in", value: [value] }] }] },
            value,
          ),
        );
        assert.equal(a, b);
      }),
    );
    const set = (value: string): string =>
      assign(table, { text: value, email: value, data: { keyOf: value } }, createParameters(dialect), () => null)
        .map(({ sql, place }) => `${sql} = ${place}`)
        .join();
    assert.equal(set("'; DROP TABLE notes; --"), set("x"));
  });

  test(`throws for an undeclared column, so that its name never becomes SQL (${name})`, () => {
    for (const column of ["nmae", `text" OR 1=1 --`, "_revision", "_email_folded", "", "toString", "__proto__"]) {
      assert.throws(() => compile({ column, operator: "eq", value: "x" }, "a"), TypeError);
      assert.throws(() => assign(table, { [column]: "x" }, createParameters(dialect), () => null), TypeError);
      const sort = [{ column }];
      const query: ListQuery = { collection: notes, where: null, sort, limit: 10 };
      assert.throws(() => readList(table, query), TypeError);
    }
  });
}

test("runs a script the same with synchronous and asynchronous results, also after a failure", async () => {
  function* counting(): Script<string[]> {
    const seen: string[] = [];
    for (const text of ["one", "fails", "two"]) {
      try {
        const [row] = yield* ask(statement(text));
        seen.push(String(row!["said"]));
      } catch (error) {
        seen.push((error as Error).message);
      }
    }
    return seen;
  }
  const send = (step: ScriptStep): Rows => {
    if (!("text" in step) || step.text === "fails") throw new Error("failed");
    return [{ said: step.text.toUpperCase() }];
  };

  const later = await playAsync(counting(), async (step) => send(step));

  assert.deepEqual(play(counting(), send), ["ONE", "failed", "TWO"]);
  assert.deepEqual(later, ["ONE", "failed", "TWO"]);
});

test("passes a failure that a script does not catch to the caller", async () => {
  const failing = (): Rows => {
    throw new TypeError("failed");
  };

  assert.throws(() => play(ask(statement("x")), failing), TypeError);
  await assert.rejects(
    playAsync(ask(statement("x")), async () => failing()),
    TypeError,
  );
});
