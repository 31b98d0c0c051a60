import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../core/problem/problem.ts";
import { makeLongReads } from "./long-reads.ts";

test("runs two reads of a caller, queues eight, and refuses the next", async () => {
  const reads = makeLongReads();
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const read = (name: string, at: number): Promise<number> =>
    reads.run(name, () => {
      started.push(at);
      return new Promise<number>((resolve) => ends.push(() => resolve(at)));
    });
  const pending = Array.from({ length: 10 }, (_, at) => read("user 1", at));

  await assert.rejects(read("user 1", 10), (error) => error instanceof Problem && error.code === "unavailable");

  assert.deepEqual(started, [0, 1]);
  const other = read("user 2", 20);
  assert.deepEqual(started, [0, 1, 20]);
  for (let at = 0; at < 11; at++) {
    ends[at]!();
    await new Promise(setImmediate);
  }
  assert.deepEqual(await Promise.all([...pending, other]), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20]);
  assert.deepEqual(started, [0, 1, 20, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("starts the next waiting read after a read that fails", async () => {
  const reads = makeLongReads(1, 1);
  const failing = reads.run("a", () => Promise.reject(new Error("no")));
  const next = reads.run("a", () => 7);

  await assert.rejects(failing, /no/);
  assert.equal(await next, 7);
});
