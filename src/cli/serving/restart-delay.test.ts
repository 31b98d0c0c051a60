import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRestartDelay } from "./restart-delay.ts";

test("increases the delay with each failed start, up to 1.5 s", () => {
  const delay = makeRestartDelay();

  const delays = Array.from({ length: 6 }, () => delay.failed());

  assert.deepEqual(delays, [100, 200, 400, 800, 1500, 1500]);
});

test("resets the delay once a worker serves", () => {
  const delay = makeRestartDelay();
  for (let failure = 0; failure < 100; failure++) delay.failed();

  delay.served();

  assert.equal(delay.failed(), 100);
});
