import assert from "node:assert/strict";
import test from "node:test";
import { Chaskey } from "./chaskey.ts";

// Key and MACs of the author's reference implementation, for the messages 00 01 02 … of 16, 32 and 48 bytes.
const key = [0x833d3433, 0x009f389f, 0x2398e64f, 0x417acf39] as const;
const published = [
  [0x5dd0e2a9, 0xfb5eac8c, 0x633a392e, 0x500c36f3],
  [0x77962784, 0x07c647fa, 0xdd752c0f, 0xd2f5a799],
  [0xf36e748b, 0x8f34677f, 0x1e00ba1b, 0xdd7da46d],
];

test("computes the published MACs of Chaskey-12", () => {
  const mac = new Chaskey(key);

  for (const [at, expected] of published.entries()) {
    mac.begin();
    for (let block = 0; block < at; block++) mac.add(...wordsFrom(16 * block));
    assert.deepEqual(new Uint32Array(mac.end(...wordsFrom(16 * at))), Uint32Array.from(expected));
  }
});

/** Returns sixteen counting bytes as words, low byte first. */
function wordsFrom(byte: number): [number, number, number, number] {
  const { buffer } = Uint8Array.from({ length: 16 }, (_, at) => byte + at);
  return Array.from(new Uint32Array(buffer)) as [number, number, number, number];
}
