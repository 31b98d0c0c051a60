import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrefer } from "./prefer.ts";

for (const [header, expected] of [
  ["count=exact", { count: "exact" }],
  ["return=minimal, Count = Exact", { return: "minimal", count: "Exact" }],
  ['count="exact"; why=x, respond-async', { count: "exact", "respond-async": "" }],
  ['a="x, y\\"; z", b=1', { a: 'x, y"; z', b: "1" }],
  ["count=exact, count=none", { count: "exact" }],
  ['foo; bar="a,b", count=exact', { foo: "", count: "exact" }],
  ["a=, b", { a: "", b: "" }],
  [",,=x, a b, count=exact", { count: "exact" }],
  ['a="unclosed, count=exact', {}],
  ["", {}],
] as const) {
  test(`reads Prefer: ${header} as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(Object.fromEntries(parsePrefer(header)), expected);
  });
}
