import assert from "node:assert/strict";
import { test } from "node:test";
import { findTextAfterPrefix } from "./prefix.ts";

test("returns the first text after all texts with a prefix, by code points", () => {
  for (const [prefix, after] of [
    ["smith\n", "smith\u000b"],
    ["a\ud7ff", "a\ue000"],
    ["a\uffff", "a\u{10000}"],
    ["\u{1f600}", "\u{1f601}"],
    ["a\u{10fffe}", "a\u{10ffff}"],
    ["a\u{10ffff}\u{10ffff}", "b"],
    ["\u{10ffff}", null],
    ["", null],
  ] as const)
    assert.equal(findTextAfterPrefix(prefix), after, prefix);
});
