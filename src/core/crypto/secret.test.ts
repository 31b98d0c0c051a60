import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { signing } from "./secret.ts";

const keys = [0, 1, 20, 32, 63, 64, 65, 131].map((length) => new Uint8Array(length).fill(0xaa));

/**
 * Texts of lengths around a block and around the buffer, with characters of one to four bytes, and with a lone
 * surrogate.
 */
const texts = [0, 1, 55, 56, 63, 64, 65, 119, 1365, 1366, 4095, 4096, 4097, 100_000].flatMap((length) =>
  ["x", "é", "€", "😀", "\ud83d"].map((letter) => letter.repeat(length)),
);

test("signs like HMAC-SHA-256 (RFC 2104)", () => {
  for (const key of keys) {
    const sign = signing(key);
    for (const text of [...texts, ...texts.toReversed()])
      assert.equal(sign(text), createHmac("sha256", key).update(text).digest("latin1"), `${key.length} ${text.length}`);
  }
});

test("computes the signatures of the examples of RFC 4231", () => {
  const hex = (text: string): string => Buffer.from(text, "latin1").toString("hex");
  const jefe = signing(Buffer.from("Jefe"))("what do ya want for nothing?");
  const long = signing(new Uint8Array(131).fill(0xaa))("Test Using Larger Than Block-Size Key - Hash Key First");

  assert.equal(hex(jefe), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  assert.equal(hex(long), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
});
