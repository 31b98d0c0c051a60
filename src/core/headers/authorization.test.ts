import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAuthorization } from "./authorization.ts";

for (const [header, expected] of [
  ["Basic YWRhOng=", { scheme: "basic", credentials: "YWRhOng=" }],
  ["BEARER a.b.c", { scheme: "bearer", credentials: "a.b.c" }],
  ["  Token   lk_x  ", { scheme: "token", credentials: "lk_x" }],
  ["Token\tlk_x", { scheme: "token", credentials: "lk_x" }],
  ["Bearer", { scheme: "bearer", credentials: "" }],
  ["Token two words", { scheme: "token", credentials: "two words" }],
  ['Digest username="ada", realm="x", nc=1', { scheme: "digest", credentials: 'username="ada", realm="x", nc=1' }],
  ["Basic YWRhOng=, Basic YWRhOng=", "two"],
  ["Basic YWRhOng=, Bearer abc", "two"],
  ["Bearer abc,Token def", "two"],
  ["Bearer abc, ", "two"],
  ['Digest a="b", Basic YQ==', "two"],
  ["", null],
  [" ", null],
  ["=x y", null],
  ['"a" b', null],
] as const) {
  test(`reads Authorization: ${JSON.stringify(header)} as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(parseAuthorization(header), expected);
  });
}
