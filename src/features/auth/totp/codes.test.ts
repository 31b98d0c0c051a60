import assert from "node:assert/strict";
import { test } from "node:test";
import { computeCode, findStep, formatBase32, computeStep } from "./codes.ts";

const secret = Buffer.from("12345678901234567890");

// RFC 6238, appendix B: the rows of SHA-1. The codes here are the last six of the eight digits.
const vectors: readonly (readonly [seconds: number, code: string])[] = [
  [59, "287082"],
  [1111111109, "081804"],
  [1111111111, "050471"],
  [1234567890, "005924"],
  [2000000000, "279037"],
  [20000000000, "353130"],
];

for (const [seconds, code] of vectors)
  test(`computes the code of RFC 6238 at ${seconds} seconds`, () => {
    assert.equal(computeCode(secret, computeStep(seconds * 1000)), code);
  });

// RFC 4226, appendix D.
const counters = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"];

for (const [counter, code] of counters.entries())
  test(`computes the code of RFC 4226 for the counter ${counter}`, () => {
    assert.equal(computeCode(secret, counter), code);
  });

const now = 1_700_000_000_000;
const codeAt = (steps: number): string => computeCode(secret, computeStep(now) + steps);

test("accepts the codes of the current step and of one step before and after, and no others", () => {
  for (const steps of [-1, 0, 1]) assert.equal(findStep(secret, codeAt(steps), now, 0), computeStep(now) + steps);
  for (const steps of [-2, 2]) assert.equal(findStep(secret, codeAt(steps), now, 0), null);
});

test("accepts a code once, and then no code of an earlier step", () => {
  assert.equal(findStep(secret, codeAt(0), now, computeStep(now)), null);
  assert.equal(findStep(secret, codeAt(-1), now, computeStep(now)), null);
  assert.equal(findStep(secret, codeAt(1), now, computeStep(now)), computeStep(now) + 1);
});

test("refuses a text that is not a code", () => {
  for (const code of ["", "12345", "1234567", "abcdef", "００５９２４"])
    assert.equal(findStep(secret, code, now, 0), null);
});

// RFC 4648 §10, without padding.
for (const [text, base32] of [
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
] as const)
  test(`writes "${text}" in Base32`, () => {
    assert.equal(formatBase32(Buffer.from(text)), base32);
  });
