import assert from "node:assert/strict";
import { test } from "node:test";
import { findCombination, implies } from "./implying.ts";
import { administrator as a, allOf, anyOf, anyone as c, authenticated as b } from "./permission.ts";

test("knows which permission allows everyone whom another one allows", () => {
  const implied = [
    [a, a],
    [allOf(a, b), allOf(b, a)],
    [anyOf(a, b), anyOf(c, b, a)],
    [a, anyOf(b, a)],
    [allOf(a, b), a],
    [allOf(a, b), b],
    [allOf(anyOf(a, b), c), anyOf(b, a)],
    [anyOf(allOf(a, c), b), anyOf(a, b)],
    [allOf(a, b), anyOf(c, allOf(b, a))],
  ] as const;
  const other = [
    [a, b],
    [a, allOf(a, b)],
    [b, allOf(a, b)],
    [anyOf(a, b), a],
    [anyOf(a, b), b],
    [c, anyOf(a, b)],
    [allOf(a, b), c],
    [allOf(a, b), allOf(a, c)],
    [anyOf(a, c), anyOf(a, b)],
  ] as const;
  for (const [one, two] of implied) assert.equal(implies(one, two), true, `${one.name}, ${two.name}`);
  for (const [one, two] of other) assert.equal(implies(one, two), false, `${one.name}, ${two.name}`);
});

test("knows the parts of a combined permission, and of no other one", () => {
  const either = anyOf(a, b);
  const all = allOf(either, c);

  assert.deepEqual(findCombination(all), { of: "all", parts: [either, c] });
  assert.equal(findCombination(a), null);
});
