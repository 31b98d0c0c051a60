import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nearest, suggestion } from "./nearest.ts";

const knownNames = ["title", "minLength", "maxLength", "unique", "writeOnly"];

test("suggests the nearest name for a typing mistake, and lists all names if none is similar", () => {
  const rows: readonly (readonly [name: string, message: string])[] = [
    ["titel", "; did you mean title?"],
    ["tilte", "; did you mean title?"],
    ["uniqe", "; did you mean unique?"],
    ["writeonly", "; did you mean writeOnly?"],
    ["max", "; did you mean maxLength?"],
    ["min", "; did you mean minLength?"],
    ["size", "; there are title, minLength, maxLength, unique, writeOnly"],
    ["", "; there are title, minLength, maxLength, unique, writeOnly"],
  ];
  for (const [name, expected] of rows) assert.equal(suggestion(name, knownNames), expected, name);
  assert.equal(suggestion("a", []), "; there are none");
  assert.equal(nearest("a", []), null);
});

test("finds a known name for any text, and returns a short suggestion for a long text", () => {
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (name) => knownNames.includes(nearest(name, knownNames)!)));
  assert.ok(suggestion("x".repeat(1_000_000), knownNames).length < 100);
  assert.equal(nearest("unique", knownNames), "unique");
});
