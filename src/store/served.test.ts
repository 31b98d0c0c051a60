import assert from "node:assert/strict";
import { test } from "node:test";
import { isServed, rangedColumn } from "./served.ts";
import type { Collection, Sort, Where } from "./store.ts";

const things: Collection = {
  name: "things",
  key: "integer",
  columns: [
    { name: "name", type: "text" },
    { name: "email", type: "text", unique: "folded" },
    { name: "owner_id", type: "integer" },
  ],
  indexes: [
    ["name", "id"],
    ["owner_id", "name", "id"],
  ],
};

const [eq, one] = [(column: string, value: number | string): Where => ({ column, operator: "eq", value }), 1];
const linked = (...values: string[]): Where => ({ link: things, record: "owner_id", linked: "name", values });
const by = (...names: string[]): Sort[] =>
  names.map((name) => (name.startsWith("-") ? { column: name.slice(1), descending: true } : { column: name }));

const rows: readonly (readonly [title: string, where: Where | null, sort: readonly Sort[], served: boolean])[] = [
  ["all rows by id", null, by("id"), true],
  ["all rows by id, backwards", null, by("-id"), true],
  ["all rows by a sort that has an index", null, by("name", "id"), true],
  ["all rows by a sort that has an index, backwards", null, by("-name", "-id"), true],
  ["all rows by a text in one direction and by id in the other", null, by("-name", "id"), true],
  [
    "a range by an integer in one direction and by id in the other",
    { column: "owner_id", operator: "gt", value: one },
    by("-owner_id", "id"),
    false,
  ],
  ["rows that link to one value", linked("a"), by("id"), true],
  ["rows that link to one of two values", linked("a", "b"), by("id"), false],
  ["rows that link to one value, in another order", linked("a"), by("name", "id"), false],
  [
    "rows that link to one value, with a condition on a column",
    { all: [linked("a"), eq("name", "b")] },
    by("id"),
    false,
  ],
  ["all rows by a sort without an index", null, by("email", "id"), false],
  ["rows after an id", { column: "id", operator: "gt", value: one }, by("id"), true],
  ["rows after an id, in another order", { column: "id", operator: "gt", value: one }, by("name", "id"), false],
  ["a unique value, in any order", eq("email", "a"), by("owner_id", "id"), true],
  [
    "some ids with a part of a text, in any order",
    {
      all: [
        { column: "id", operator: "in", value: [1] },
        { column: "name", operator: "contains", value: "a" },
      ],
    },
    by("-name", "id"),
    true,
  ],
  [
    "some ids with a value whose index has another order",
    { all: [{ column: "id", operator: "in", value: [1] }, eq("owner_id", one)] },
    by("name", "id"),
    false,
  ],
  [
    "some ids with a value, by id",
    { all: [eq("owner_id", one), { column: "id", operator: "in", value: [1] }] },
    by("-id"),
    true,
  ],
  ["a value, sorted by id", eq("name", "a"), by("id"), true],
  ["a value, sorted by its column", eq("name", "a"), by("-name", "id"), true],
  ["a value whose index continues in another order", eq("owner_id", one), by("id"), false],
  ["a value and the order of its index", eq("owner_id", one), by("name", "id"), true],
  ["two values of different columns", { all: [eq("name", "a"), eq("owner_id", one)] }, by("id"), true],
  ["a prefix in its order", { column: "name", operator: "starts", value: "a" }, by("name", "id"), true],
  ["a prefix in another order", { column: "name", operator: "starts", value: "a" }, by("id"), false],
  ["a part of a text", { column: "name", operator: "contains", value: "a" }, by("name", "id"), false],
  ["a negated condition", { not: eq("owner_id", one) }, by("id"), false],
  ["some ids and a negated condition", { all: [eq("id", one), { not: eq("name", "a") }] }, by("id"), false],
  ["one of two conditions", { any: [eq("name", "a"), eq("owner_id", one)] }, by("id"), false],
];

for (const [title, where, sort, served] of rows)
  test(`finds ${served ? "an index" : "no index"} for a query: ${title}`, () => {
    assert.equal(isServed({ collection: things, where, sort }), served);
  });

test("returns the column of a range condition if an index begins with this column", () => {
  const visits: Collection = {
    name: "visits",
    key: "integer",
    columns: [
      { name: "at", type: "integer" },
      { name: "count", type: "integer" },
      { name: "left_at", type: "integer", nullable: true },
    ],
    indexes: [["at"], ["left_at"]],
  };
  const below = (column: string): Where => ({ column, operator: "lt", value: 9 });

  assert.equal(rangedColumn(visits, below("at")), "at");
  assert.equal(rangedColumn(visits, { all: [below("count"), below("at")] }), "at");
  assert.equal(rangedColumn(visits, below("count")), null);
  assert.equal(rangedColumn(visits, below("left_at")), null);
  assert.equal(rangedColumn(visits, eq("at", 9)), null);
  assert.equal(rangedColumn(visits, { any: [below("at"), below("count")] }), null);
});
