import assert from "node:assert/strict";
import { test } from "node:test";
import { pauseMs, portionSize } from "./batch-size.ts";

test("deletes fewer rows at a time if the rows are slow, but not if the disk is slow", () => {
  const sizesWhere = (tookMs: (rows: number, at: number) => number): readonly number[] => {
    const size = portionSize();
    return Array.from({ length: 60 }, (_, at) => {
      const rows = size.rows();
      size.took(tookMs(rows, at));
      return rows;
    });
  };

  assert.equal(Math.max(...sizesWhere(() => 20)), 500);
  assert.ok(Math.max(...sizesWhere((rows) => rows)) <= 20);
  assert.ok(Math.max(...sizesWhere((rows) => 20 + rows / 40)) < 500);
  // Other writers delay two of three portions.
  assert.equal(Math.max(...sizesWhere((_rows, at) => (at % 3 === 0 ? 20 : 900))), 500);
  // The disk was fast at first.
  assert.equal(Math.max(...sizesWhere((_rows, at) => (at < 6 ? 1 : 20))), 500);
});

test("leaves other writers a larger share of the time after a slow write", () => {
  assert.deepEqual([1, 10, 20].map(pauseMs), [1, 10, 20]);
  assert.deepEqual([40, 100].map(pauseMs), [80, 500]);
  assert.deepEqual([200, 1000].map(pauseMs), [2000, 2000]);
  assert.equal(pauseMs(5000), 5000);
});
