import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { makeSealing } from "./sealing.ts";

const [key, older] = [randomBytes(32), randomBytes(32)];
const sealing = makeSealing([key]);

test("opens a sealed text only for the same name", () => {
  const text = sealing.seal(Buffer.from("secret"), "factor 1");

  assert.equal(sealing.open(text, "factor 1")?.toString(), "secret");
  assert.equal(sealing.open(text, "factor 2"), null);
});

test("seals the same bytes differently each time", () => {
  assert.notEqual(sealing.seal(Buffer.from("secret"), "a"), sealing.seal(Buffer.from("secret"), "a"));
});

test("opens a text sealed with an older secret, but not with an unknown secret", () => {
  const text = makeSealing([older]).seal(Buffer.from("secret"), "a");

  assert.equal(makeSealing([key, older]).open(text, "a")?.toString(), "secret");
  assert.equal(sealing.open(text, "a"), null);
});

test("refuses a text with any bit changed, cut or too short", () => {
  const sealed = Buffer.from(sealing.seal(Buffer.from("secret"), "a"), "base64url");

  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    assert.equal(sealing.open(changed.toString("base64url"), "a"), null);
    assert.equal(sealing.open(sealed.subarray(0, at).toString("base64url"), "a"), null);
  }
});
