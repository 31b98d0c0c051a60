import assert from "node:assert/strict";
import { test } from "node:test";
import type { Collection } from "../../../store/store.ts";
import { matches } from "./matches.ts";

const people: Collection = {
  name: "people",
  key: "integer",
  columns: [
    { name: "name", type: "text", folded: true },
    { name: "code", type: "text", unique: "folded" },
  ],
};

test("a record in memory has each form of a letter where the store finds it: not in a unique column", () => {
  for (const [form, letter] of ["ſs", "µμ", "ϐβ", "ϑΘ", "ẛṡ", "ᲀВ"].map((pair) => [...pair]))
    for (const [actual, value] of [
      [form!, letter!],
      [letter!, form!],
    ] as const)
      for (const operator of ["icontains", "istarts"] as const) {
        const record = { id: 1, name: `${actual}-x`, code: `${actual}-x` };
        assert.equal(matches(people, record, { column: "name", operator, value }), true, `${actual} ${value}`);
        assert.equal(matches(people, record, { column: "code", operator, value }), false, `${actual} ${value}`);
      }
  const sigmas = { id: 1, name: "ΑΣ", code: "ΑΣ" };
  for (const column of ["name", "code"])
    assert.equal(matches(people, sigmas, { column, operator: "icontains", value: "ασ" }), true);
});
