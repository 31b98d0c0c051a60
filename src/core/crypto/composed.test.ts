import assert from "node:assert/strict";
import { test } from "node:test";
import { composed } from "./composed.ts";

test("returns text in Normalization Form C, with up to 30 marks on a letter in order", () => {
  const thirty = "\u0315\u0300".repeat(15);

  for (const text of ["", "Zo\u0065\u0308", "\u1112\u1161\u11ab", `a${thirty}`, `\u0390${thirty}`])
    assert.equal(composed(text), text.normalize("NFC"));
});

test("inserts a joiner after every 30 marks on a letter, and sorts only between joiners", () => {
  const marks = "\u0315".repeat(31) + "\u0300".repeat(31);

  const once = composed(`a${marks}`);

  assert.equal(once, `a${"\u0315".repeat(30)}\u034f${"\u0300".repeat(29)}\u0315\u034f${"\u0300".repeat(2)}`);
  assert.equal(composed(once), once);
});

test("does not split a mark that is a surrogate pair", () => {
  assert.ok(composed("\u{1d165}".repeat(100)).isWellFormed());
});
