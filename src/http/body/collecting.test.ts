import assert from "node:assert/strict";
import { test } from "node:test";
import { CollectedBody } from "./collecting.ts";

/** Returns the memory that is counted for this many pieces of ten octets. */
function weighed(pieces: number, announced: number, connectionBytes = 0): number {
  let sum = 0;
  const body = new CollectedBody(1000, announced, (bytes) => void (sum += bytes), connectionBytes);
  for (let piece = 0; piece < pieces; piece++) body.add(new Uint8Array(10).fill(piece));
  assert.deepEqual(
    Uint8Array.from(body.bytes),
    Uint8Array.from({ length: 10 * pieces }, (_, at) => Math.floor(at / 10)),
  );
  return sum;
}

test("doubles the counted memory as a body grows, up to the announced length", () => {
  assert.equal(weighed(1, 1000), 10);
  assert.equal(weighed(3, 1000), 40);
  assert.equal(weighed(3, 30), 30);
  assert.equal(weighed(100, 0), 1000);
});

test("counts the memory of the connection once, if the body arrives in pieces", () => {
  assert.equal(weighed(1, 1000, 64), 10);
  assert.equal(weighed(3, 30, 64), 94);
});
