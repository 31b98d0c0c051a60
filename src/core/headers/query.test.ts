import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Problem } from "../problem/problem.ts";
import { formatQuery, parseQuery } from "./query.ts";

for (const [query, expected] of [
  ["", []],
  [
    "limit=2&sort=-name,id",
    [
      ["limit", "2"],
      ["sort", "-name,id"],
    ],
  ],
  [
    "name[starts]=An&name%5Bstarts%5D=Be",
    [
      ["name[starts]", "An"],
      ["name[starts]", "Be"],
    ],
  ],
  ["name=Ann+Lee%2B1", [["name", "Ann Lee+1"]]],
  ["name=%C3%A9%F0%9F%98%80", [["name", "é😀"]]],
  ["a=b=c", [["a", "b=c"]]],
  [
    "flag&&x=",
    [
      ["flag", ""],
      ["x", ""],
    ],
  ],
  ["=1", [["", "1"]]],
  ["__proto__=1", [["__proto__", "1"]]],
] as const) {
  test(`reads ?${query} in order`, () => {
    assert.deepEqual(parseQuery(query), expected);
  });
}

for (const [query, pointer] of [
  ["name=%", "?name"],
  ["a=1&name=%zz", "?name"],
  ["name=%ff", "?name"],
  ["name=%C0%AF", "?name"],
  ["name=%ED%A0%80", "?name"],
  ["na%me=1", "?"],
] as const) {
  test(`refuses ?${query} at ${pointer}`, () => {
    assert.throws(
      () => parseQuery(query),
      (error) => error instanceof Problem && error.code === "invalid_query" && error.issues[0]?.pointer === pointer,
    );
  });
}

test("writes a query like URLSearchParams, and reads it back unchanged", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("id[gt]", "a b", "~'()!*-._", "+%", "é"),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (parameters) => {
      const written = formatQuery(parameters);

      assert.equal(written, new URLSearchParams(parameters).toString());
      const wellFormed = parameters.map((pair) => pair.map((each) => each.toWellFormed()));
      assert.deepEqual(parseQuery(written), wellFormed);
    }),
  );
});
