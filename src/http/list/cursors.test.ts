import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { makeCursors } from "./cursors.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const key = new Uint8Array(32).fill(1);

test("a cursor belongs to its query, and to no other", () => {
  const cursors = makeCursors([key]);
  const place = { direction: "after", values: [1, "a"] } as const;
  const text = cursors.format(place, "/books all");

  assert.deepEqual(cursors.require(text, "/books all"), place);
  assert.throws(() => cursors.require(text, "/books al"), { code: "invalid_query" });
  assert.throws(() => cursors.require(text, "/books", "/cursor"), { code: "invalid" });
});

test("whoever asks for ever other long queries fills no memory", () => {
  const cursors = makeCursors([key]);
  const heapOf = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = heapOf();
  for (let at = 0; at < 500; at++)
    cursors.format({ direction: "after", values: [1] }, `${at} ${"x".repeat(100 * 1024)}`);
  const grownBytes = heapOf() - before;

  assert.ok(grownBytes < 10 * 2 ** 20, `${grownBytes}`);
});
