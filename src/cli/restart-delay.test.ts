import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRestartDelay } from "./restart-delay.ts";

test("workers that cannot start are tried again after longer and longer", () => {
  const delay = makeRestartDelay();

  const delays = Array.from({ length: 11 }, () => delay.failed());

  assert.deepEqual(delays, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test("once one serves, the delay begins anew", () => {
  const delay = makeRestartDelay();
  for (let failure = 0; failure < 100; failure++) delay.failed();

  delay.served();

  assert.equal(delay.failed(), 100);
});
