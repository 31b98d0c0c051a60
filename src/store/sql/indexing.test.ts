import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { indexBeside } from "./indexing.ts";

test("what waits is taken in at once, beside writes with the pause of the driver, and soon after a write where nothing waited", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let waiting = 4;
  let taken = 0;
  const indexing = indexBeside(
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
  // However many write meanwhile, the pause becomes no longer.
  for (let ms = 1; ms < 7; ms++) {
    indexing.written();
    assert.equal(await after(1), 3);
  }
  assert.equal(await after(1), 4);
  indexing.written();
  assert.equal(await after(7), 5);
  // Nothing waits any more.
  assert.equal(await after(4999), 5);
  indexing.written();
  assert.equal(await after(99), 5);
  assert.equal(await after(1), 6);
  indexing.stop();
  assert.equal(await after(10_000), 6);
});
