import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRestartDelay } from "./restart-delay.ts";

test("the first one that dies is replaced at once, those that die again and again after longer and longer", () => {
  const delay = makeRestartDelay();

  const delays = Array.from({ length: 12 }, () => delay(0));

  assert.deepEqual(delays, [0, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test("one that has served for a while is replaced at once, and the count begins anew", () => {
  const delay = makeRestartDelay();
  for (let death = 0; death < 100; death++) delay(9_999);

  assert.deepEqual([delay(10_000), delay(0), delay(0)], [0, 0, 100]);
});
