import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRestartDelay } from "./restart-delay.ts";

test("workers that cannot start are tried again after longer and longer, and never after more than 2 s", () => {
  const delay = makeRestartDelay();

  const delays = Array.from({ length: 6 }, () => delay.failed());

  assert.deepEqual(delays, [100, 200, 400, 800, 1500, 1500]);
});

test("once one serves, the delay begins anew", () => {
  const delay = makeRestartDelay();
  for (let failure = 0; failure < 100; failure++) delay.failed();

  delay.served();

  assert.equal(delay.failed(), 100);
});
