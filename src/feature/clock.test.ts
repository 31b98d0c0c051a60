import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Observation } from "../core/observation.ts";
import { correctedClock, differenceText } from "./clock.ts";

/** Returns a machine and a database with clocks that the test sets. */
function world(t: TestContext, at: { wall: number; steady: number; database: number }) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const observed: Observation[] = [];
  const clock = correctedClock({ now: async () => at.database }, (observation) => void observed.push(observation), {
    wall: () => at.wall,
    steady: () => at.steady,
  });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    clock,
    settled,
    levels: () => observed.map((each) => each.kind === "notice" && each.level),
    pass(ms: number) {
      for (const name of ["wall", "steady", "database"] as const) at[name] += ms;
    },
    async measured() {
      t.mock.timers.tick(1000);
      await settled();
    },
  };
}

test("returns the database's time, also after the machine's clock was set", async (t) => {
  const at = { wall: 1_000_000, steady: 5000, database: 940_000 };
  const { clock, pass, settled, levels } = world(t, at);
  const stop = await clock.start();

  assert.equal(clock.now(), 940_000);
  assert.equal(clock.aheadMs(), 60_000);
  assert.equal(differenceText(clock.aheadMs()), null);
  for (const set of [3_600_000, -7_200_000, 3_539_000]) {
    at.wall += set;
    assert.equal(clock.now(), at.database);
    // `now` has noticed the change and started a measurement.
    await settled();
    assert.equal(clock.aheadMs(), at.wall - at.database);
    pass(10);
    assert.equal(clock.now(), at.database);
  }
  stop();

  assert.match(differenceText(-120_000)!, /120 s behind the clock of the database.*Set the clock/);
  assert.deepEqual(levels(), ["error", "info"]);
});

test("measures the database's time on the first read after the machine has slept", async (t) => {
  const at = { wall: 1_000_000, steady: 5000, database: 1_000_000 };
  const { clock, settled, levels } = world(t, at);
  const stop = await clock.start();

  at.wall += 3_600_000;
  at.database += 3_600_000;
  clock.now();
  await settled();
  stop();

  assert.equal(clock.now(), at.database);
  assert.deepEqual(levels(), []);
});

test("stops the time if the database's clock is set back by a second, and sets the time back if that clock is set back by an hour", async (t) => {
  const at = { wall: 1_000_000, steady: 5000, database: 1_000_000 };
  const { clock, pass, measured } = world(t, at);
  const stop = await clock.start();

  assert.equal(clock.now(), 1_000_000);
  at.database -= 1000;
  await measured();
  assert.equal(clock.now(), 1_000_000);
  pass(999);
  assert.equal(clock.now(), 1_000_000);
  pass(11);
  assert.equal(clock.now(), 1_000_010);
  at.database += 3_600_000;
  await measured();
  assert.equal(clock.now(), 4_600_010);
  at.database -= 3_600_000;
  await measured();
  assert.equal(clock.now(), 1_000_010);
  stop();
});

test("follows a jump of the database's clock within a second, without any request", async (t) => {
  const at = { wall: 1_000_000, steady: 5000, database: 1_000_000 };
  const { clock, pass, measured } = world(t, at);
  const stop = await clock.start();

  at.database += 55_000;
  pass(1000);
  await measured();

  assert.equal(clock.now(), at.database);
  stop();
});

test("keeps the last difference from the database's clock if the database does not answer", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let answers = true;
  const clock = correctedClock(
    { now: async () => (answers ? 5000 : Promise.reject(new Error("gone"))) },
    () => assert.fail(),
    { wall: () => 7000, steady: () => 1 },
  );
  const stop = await clock.start();

  answers = false;
  t.mock.timers.tick(1000);
  await new Promise(setImmediate);
  stop();

  assert.equal(clock.now(), 5000);
});
