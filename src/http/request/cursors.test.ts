import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { makeCursors } from "./cursors.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const key = new Uint8Array(32).fill(1);

test("accepts a cursor only with the query that it was made for", () => {
  const cursors = makeCursors([key]);
  const place = { direction: "after", values: [1, "a"] } as const;
  const text = cursors.format(place, "/books all");

  assert.deepEqual(cursors.require(text, "/books all"), place);
  assert.throws(() => cursors.require(text, "/books al"), { code: "invalid_query" });
  assert.throws(() => cursors.require(text, "/books", "/cursor"), { code: "invalid" });
});

test("does not keep the queries of cursors in memory", () => {
  const cursors = makeCursors([key]);
  const measureHeap = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = measureHeap();
  for (let at = 0; at < 500; at++)
    cursors.format({ direction: "after", values: [1] }, `${at} ${"x".repeat(100 * 1024)}`);
  const grownBytes = measureHeap() - before;

  assert.ok(grownBytes < 10 * 2 ** 20, `${grownBytes}`);
});
