import assert from "node:assert/strict";
import { test } from "node:test";
import { formatShape } from "../../src/http/mount/reads/places.ts";
import type { Filter, ListRequest } from "../../src/resource/query.ts";

type Shaped = Pick<ListRequest, "filters" | "sort" | "search">;

const id = { field: "id", descending: false };
const filter = (field: string, operator: Filter["operator"], value: unknown): Filter =>
  ({ field, operator, value }) as Filter;

const requests: readonly (readonly [what: string, Shaped])[] = [
  ["no filters", { filters: [], sort: [id], search: [] }],
  ["numbers", { filters: [filter("id", "gt", 10), filter("id", "lt", 9)], sort: [id], search: [] }],
  [
    "numbers of every size",
    { filters: [filter("a", "eq", -0), filter("b", "eq", 1e21), filter("c", "eq", 1e-7)], sort: [id], search: [] },
  ],
  ["the same filter twice", { filters: [filter("a", "eq", 1), filter("a", "eq", 1)], sort: [id], search: [] }],
  ["several sort fields", { filters: [], sort: [{ field: "name", descending: true }, id], search: [] }],
  [
    "null, booleans and lists",
    {
      filters: [filter("a", "eq", null), filter("b", "eq", true), filter("c", "in", [1, "x", null])],
      sort: [id],
      search: [],
    },
  ],
  [
    "texts to escape",
    { filters: [filter("name", "contains", '"\\\n\u2028\ud800é')], sort: [id], search: ['"', "\\", "\u0001"] },
  ],
];

for (const [what, request] of requests)
  test(`formats the shape of a list with ${what} as earlier versions did, so that their cursors stay valid`, () => {
    const { filters, sort, search } = request;
    const before = JSON.stringify([filters.map((each) => JSON.stringify(each)).toSorted(), sort, ...search]);
    assert.equal(formatShape(request), before);
  });
