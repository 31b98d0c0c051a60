import assert from "node:assert/strict";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import timers from "node:timers/promises";
import { makeRepeating } from "./repeating.ts";

const HOUR_MS = 3_600_000;

test("repeats work ever more rarely while there is nothing to do, and soon after a change or a failure", async (t) => {
  // Each pass of the work, and the pause after it, in seconds.
  const passes: readonly (readonly [number | Error, number])[] = [
    [0, 10],
    [0, 20],
    [0, 40],
    [3, 5],
    [0, 10],
    [0, 20],
    [new Error("The database is away."), 5],
    [new Error("The database is away."), 5],
    ...[10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600].map((pause) => [0, pause] as const),
  ];
  const pauses: number[] = [];
  const reported: unknown[] = [];
  const ended = Promise.withResolvers<void>();
  t.mock.method(timers, "setTimeout", async (ms: number) => {
    pauses.push(ms / 1000);
    if (pauses.length < passes.length) return;
    ended.resolve();
    throw new Error("The work stops.");
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });

  const work = makeRepeating({
    async run() {
      const [result] = passes[pauses.length]!;
      if (typeof result !== "number") throw result;
      return result;
    },
    longestPauseMs: HOUR_MS,
    failure: "The work failed.",
    observe: (observation) => reported.push(observation.kind),
  });
  work.open();
  await ended.promise;
  await work.close();

  assert.deepEqual(
    pauses,
    passes.map(([, pause]) => pause),
  );
  assert.deepEqual(reported, ["notice"]);
});
