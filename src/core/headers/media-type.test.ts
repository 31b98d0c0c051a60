import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMediaType } from "./media-type.ts";

for (const [header, expected] of [
  ["application/json", { type: "application/json", charset: null }],
  ["Application/JSON; Charset=UTF-8", { type: "application/json", charset: "utf-8" }],
  ['application/json;charset="utf-8"', { type: "application/json", charset: "utf-8" }],
  ["application/json; charset=utf8", { type: "application/json", charset: "utf-8" }],
  ["application/xml; charset=iso-8859-1", { type: "application/xml", charset: "iso-8859-1" }],
  ["application/json-patch+json; x=1", { type: "application/json-patch+json", charset: null }],
  ["", null],
  ["json", null],
  ["application/", null],
  ["application/json, text/html", null],
  ["application/json text", null],
  ["a/b/c", null],
] as const) {
  test(`reads Content-Type: ${header} as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(parseMediaType(header), expected);
  });
}
