import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "../observation.ts";
import { correctedClock, differenceText } from "./clock.ts";

test("the time is the database's, and never goes back while the difference changes", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const at = { machine: 1_000_000, database: 940_000 };
  const observed: Observation[] = [];
  const clock = correctedClock(
    { now: async () => at.database },
    (observation) => void observed.push(observation),
    () => at.machine,
  );
  const measured = async (): Promise<void> => {
    t.mock.timers.tick(10_000);
    await new Promise(setImmediate);
  };
  const stop = await clock.start();

  assert.equal(clock.now(), 940_000);
  assert.equal(clock.aheadMs(), 60_000);
  assert.equal(differenceText(clock.aheadMs()), null);
  // The machine's clock is set: it was ahead, and is behind by two minutes.
  at.machine = 820_010;
  assert.equal(clock.now(), 940_000);
  at.database = 940_010;
  await measured();
  assert.equal(clock.now(), 940_010);
  // The database is another one now, whose clock is behind: the time waits for it.
  at.database = 939_000;
  await measured();
  assert.equal(clock.now(), 940_010);
  at.machine += 1011;
  assert.equal(clock.now(), 940_011);
  at.machine = at.database;
  await measured();
  stop();

  assert.match(differenceText(-120_000)!, /120 s behind the database's.*Set the clock/);
  assert.deepEqual(
    observed.map((each) => each.kind === "notice" && each.level),
    ["error", "info"],
  );
});

test("a database that does not answer leaves the difference as it was", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let answers = true;
  const clock = correctedClock(
    { now: async () => (answers ? 5000 : Promise.reject(new Error("gone"))) },
    () => assert.fail(),
    () => 7000,
  );
  const stop = await clock.start();

  answers = false;
  t.mock.timers.tick(10_000);
  await new Promise(setImmediate);
  stop();

  assert.equal(clock.now(), 5000);
});
