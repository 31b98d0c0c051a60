import assert from "node:assert/strict";
import { test } from "node:test";
import { hashesAtOnce } from "./hash-threads.ts";

test("leaves one of several threads free of hashes, for any number of cores", () => {
  for (const [cores, setting, expected] of [
    [1, undefined, 1],
    [2, undefined, 2],
    [4, undefined, 3],
    [64, undefined, 3],
    [64, "65", 64],
    [64, "9", 8],
    [8, "9", 8],
    [64, "5000", 64],
    [2000, "5000", 1023],
    [4, "1", 1],
    [4, "0", 1],
    [4, "many", 1],
    [4, "-3", 1],
  ] as const)
    assert.equal(hashesAtOnce(cores, setting), expected, `${cores} cores, ${setting} threads`);
});
