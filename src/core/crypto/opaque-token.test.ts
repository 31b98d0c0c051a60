import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { formatOpaqueToken, makeLookup, opaqueTokenPattern, parseOpaqueToken, secretPart } from "./opaque-token.ts";

const make = (): string => formatOpaqueToken({ lookup: makeLookup(), secret: secretPart(randomBytes(32)) });

test("parses a formatted token into the same parts", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      const token = { lookup: makeLookup(), secret: secretPart(Buffer.from(key)) };

      assert.deepEqual(parseOpaqueToken(formatOpaqueToken(token)), token);
    }),
  );
});

test("finds a token in a text with the published pattern, for the lowest and the highest secret", () => {
  for (const fill of [0x00, 0xff]) {
    const token = formatOpaqueToken({ lookup: makeLookup(), secret: secretPart(Buffer.alloc(32, fill)) });

    assert.equal(opaqueTokenPattern.exec(`authorization: Token ${token}\n`)?.[0], token);
  }
});

test("uses CRC-32 in base 62 as the checksum, so that it can be verified offline", () => {
  const token = make();
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

  const read = token
    .slice(-6)
    .split("")
    .reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0);

  assert.equal(read, crc32(token.slice(0, -6)));
});

test("notices one wrong character anywhere", () => {
  const token = make();

  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === "x" ? "y" : "x";
    assert.equal(parseOpaqueToken(token.slice(0, at) + other + token.slice(at + 1)), null);
  }
});

test("notices two swapped characters", () => {
  const token = make();
  const at = [...token].findIndex((each, index) => index > 3 && each !== token[index + 1]);

  assert.equal(parseOpaqueToken(token.slice(0, at) + token[at + 1]! + token[at]! + token.slice(at + 2)), null);
});

test("refuses a text that is not exactly one token", () => {
  const token = make();

  for (const text of [
    "",
    "lk_",
    token.slice(1),
    `${token}0`,
    `${token}\n`,
    ` ${token}`,
    token.toUpperCase(),
    "x".repeat(1_000_000),
  ]) {
    assert.equal(parseOpaqueToken(text), null);
  }
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => parseOpaqueToken(text) === null));
});

test("makes different lookup ids", () => {
  assert.equal(new Set(Array.from({ length: 1000 }, makeLookup)).size, 1000);
});
