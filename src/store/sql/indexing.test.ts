import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { indexInBackground } from "./indexing.ts";

test("indexes waiting rows without a pause, pauses if there are writes, and starts soon after a write when idle", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let waiting = 4;
  let taken = 0;
  const indexing = indexInBackground(
    () => {
      taken++;
      return waiting-- > 0;
    },
    () => 7,
  );
  const after = async (ms: number): Promise<number> => {
    t.mock.timers.tick(ms);
    await setImmediate();
    return taken;
  };

  assert.equal(await after(0), 1);
  assert.equal(await after(0), 2);
  indexing.written();
  assert.equal(await after(0), 3);
  // More writes do not make the pause longer.
  for (let ms = 1; ms < 7; ms++) {
    indexing.written();
    assert.equal(await after(1), 3);
  }
  assert.equal(await after(1), 4);
  indexing.written();
  assert.equal(await after(7), 5);
  // No rows are waiting now.
  assert.equal(await after(4999), 5);
  indexing.written();
  assert.equal(await after(99), 5);
  assert.equal(await after(1), 6);
  indexing.stop();
  assert.equal(await after(10_000), 6);
});
