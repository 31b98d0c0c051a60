import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readCBOR } from "./cbor.ts";

test("reads or refuses any bytes, and never throws", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const read = readCBOR(Buffer.from(bytes));
      assert.ok(read === null || (read.length > 0 && read.length <= bytes.length));
    }),
    { numRuns: 5000 },
  );
});

test("refuses a text that is not UTF-8", () => {
  assert.deepEqual(readCBOR(Buffer.from([0x62, 0xc3, 0xa4])), { value: "ä", length: 3 });
  for (const bytes of [
    [0x61, 0xff],
    [0x62, 0xc3, 0x28],
    [0xa1, 0x61, 0x80, 0x00],
    [0x81, 0x61, 0xc3],
  ])
    assert.equal(readCBOR(Buffer.from(bytes)), null);
});
