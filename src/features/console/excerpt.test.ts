import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ExactNumber } from "../../core/exact-numbers.ts";
import { excerptText, excerptOfJSON } from "./excerpt.ts";

test("writes the beginning of JSON exactly as in the whole text", () => {
  const value = fc.oneof(
    fc.array(fc.jsonValue({ maxDepth: 4 })),
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
    fc.array(fc.string({ unit: "binary", maxLength: 60 })),
  );
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 80 }), (input, most) => {
      assert.equal(excerptOfJSON(input, most), excerptText(JSON.stringify(input), most));
    }),
  );
  assert.equal(excerptOfJSON([new ExactNumber("1e400"), 2], 100), "[1e400,2]");
});
