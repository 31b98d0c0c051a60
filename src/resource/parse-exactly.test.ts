import assert from "node:assert/strict";
import { test } from "node:test";
import { parseExactly } from "./parse-exactly.ts";

test("keeps numbers that no double can represent, and returns undefined for a text that is not JSON", () => {
  assert.equal(JSON.stringify(parseExactly('{"a":[1,1e400]}')), '{"a":[1,1e400]}');
  assert.equal(parseExactly("null"), null);
  for (const text of ["", "{", "1e400 1", "undefined"]) assert.equal(parseExactly(text), undefined);
});
