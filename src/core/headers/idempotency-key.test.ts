import assert from "node:assert/strict";
import { test } from "node:test";
import { parseIdempotencyKey } from "./idempotency-key.ts";

const uuid = "8e03978e-40d5-43e8-bc93-6894a57f9324";

for (const [header, expected] of [
  [uuid, uuid],
  [`"${uuid}"`, uuid],
  [` "${uuid}" `, uuid],
  ["12345678", "12345678"],
  ['"12345678"', "12345678"],
  ['"a\\"b\\\\cdef"', 'a"b\\cdef'],
  ["x".repeat(255), "x".repeat(255)],
  ["1234567", null],
  ['"1234567"', null],
  ["x".repeat(256), null],
  [`"${"x".repeat(256)}"`, null],
  ["", null],
  ['"', null],
  ['"unclosed-key', null],
  ['"a"bcdefghij"', null],
  ["with a space", null],
  ["schlüssel-1", null],
  ["12345678\t", "12345678"],
  ["1234\u000078", null],
] as const) {
  test(`${expected === null ? "refuses" : "accepts"} Idempotency-Key: ${JSON.stringify(header).slice(0, 60)} (${header.length})`, () => {
    assert.equal(parseIdempotencyKey(header), expected);
  });
}
