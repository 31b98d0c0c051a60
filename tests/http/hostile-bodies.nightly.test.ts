import assert from "node:assert/strict";
import test from "node:test";
import { measurePieces } from "../harness/busiest-piece.ts";
import { sendHostileBodies } from "../harness/notes-of-bodies.ts";
import { slowness } from "../harness/slowness.ts";

const mostMilliseconds = 50;

test("blocks other requests for at most 50 ms for any body within the limits", async (t) => {
  const slow: string[] = [];

  await sendHostileBodies(t, async (name, send) => {
    let longest = Infinity;
    let status = 0;
    for (let attempt = 0; attempt < 3 && longest > mostMilliseconds; attempt++) {
      const { result, busiestMs } = await measurePieces(send);
      status = result;
      longest = Math.min(longest, busiestMs > mostMilliseconds ? busiestMs / slowness() : busiestMs);
    }
    if (longest > mostMilliseconds) slow.push(`${name}: ${longest.toFixed(0)} ms (${status})`);
    return status;
  });

  assert.deepEqual(slow, []);
});
