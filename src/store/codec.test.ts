import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatDecimal, parseDecimal } from "./decimal.ts";
import { fold } from "./fold.ts";

test("converts a decimal to its scaled number and back", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }),
      fc.integer({ min: 0, max: 15 }),
      (scaled, scale) => {
        const text = formatDecimal(String(scaled), scale);

        assert.match(text, scale === 0 ? /^-?\d+$/ : new RegExp(`^-?\\d+\\.\\d{${scale}}$`));
        assert.equal(BigInt(parseDecimal(text, scale)!), scaled);
      },
    ),
  );
});

test("refuses a text that is not a decimal, or would be rounded", () => {
  for (const text of [
    "",
    "-",
    ".",
    ".5",
    "5.",
    "+1",
    "1e3",
    "1,5",
    " 1",
    "1 ",
    "0x1",
    "NaN",
    "Infinity",
    "1.234",
    "--1",
    "٣",
    "9".repeat(20),
    "92233720368547758.08",
  ]) {
    assert.equal(parseDecimal(text, 2), null, text);
  }
  fc.assert(fc.property(fc.string(), (text) => parseDecimal(text, 2) === null || /^-?\d+(\.\d+)?$/.test(text)));
});

test("ignores zeros at the end of a fraction and the sign of zero", () => {
  assert.equal(parseDecimal("1.5000", 2), 150);
  assert.equal(Object.is(parseDecimal("-0.00", 2), 0), true);
});

test("leaves a folded text unchanged when it is folded again", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => fold(fold(text)) === fold(text)));
});
