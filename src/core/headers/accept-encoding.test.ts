import assert from "node:assert/strict";
import { test } from "node:test";
import { preferredCoding } from "./accept-encoding.ts";

for (const [header, expected] of [
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["GZIP", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["gzip ; Q=0.5 , br ; q = 0.4", "gzip"],
  ["br;q=0, gzip", "gzip"],
  ["*", "br"],
  ["*;q=0.1", "br"],
  ["br;q=0, *", "gzip"],
  ["identity;q=0, *", "br"],
  ["identity;q=0, gzip;q=0.001", "gzip"],
  ["identity, gzip;q=0.5", null],
  ["identity;q=0.5, gzip;q=0.5", "gzip"],
  ["identity", null],
  ["identity;q=0", null],
  ["*;q=0", null],
  ["gzip;q=0", null],
  ["gzip;q=0.000, br;q=0.", null],
  ["deflate, zstd, compress", null],
  ["gzip;q=2", null],
  ["gzip;q=-1, br;q=nan", null],
  ["gzip;level=9", null],
  ["gzip;q=0, gzip;q=1", null],
  ["", null],
  [",,;,", null],
  ["gzip br", null],
] as const) {
  test(`chooses ${expected ?? "no coding"} for Accept-Encoding: ${header}`, () => {
    assert.equal(preferredCoding(header), expected);
  });
}
