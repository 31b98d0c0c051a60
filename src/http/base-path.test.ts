import assert from "node:assert/strict";
import { test } from "node:test";
import { belowBasePath, parseBasePath } from "./base-path.ts";

for (const [text, expected] of [
  ["/api/v1", "/api/v1"],
  ["/api/v1/", "/api/v1"],
  ["/", ""],
  ["", ""],
  ["/~a.b-c_d", "/~a.b-c_d"],
  ["api", null],
  ["//api", null],
  ["/api//v1", null],
  ["/api/../v1", null],
  ["/.", null],
  ["/..", null],
  ["/a?b", null],
  ["/a#b", null],
  ["/a;b", null],
  ["/a b", null],
  ["/%61pi", null],
  ['/a"b', null],
  ["/ä", null],
  ["/a\n", null],
  ["https://a.example/b", null],
  [`/${"x".repeat(200)}`, null],
] as const) {
  test(`${expected === null ? "refuses" : "accepts"} the base path ${JSON.stringify(text)}`, () => {
    assert.equal(parseBasePath(text), expected);
  });
}

for (const [path, expected] of [
  ["/api/v1/users", "/users"],
  ["/api/v1", "/"],
  ["/api/v1/", "/"],
  ["/api/v1//users", "//users"],
  ["/api/v10/users", null],
  ["/API/v1/users", null],
  ["/users", null],
  ["/", null],
  ["*", "*"],
] as const) {
  test(`returns ${expected} as the rest of ${path} after /api/v1`, () =>
    assert.equal(belowBasePath(path, "/api/v1"), expected));
}
