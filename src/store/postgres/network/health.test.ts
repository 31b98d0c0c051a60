import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "../../../core/observation.ts";
import { StoreUnavailable } from "../../store.ts";
import { makeHealth } from "./health.ts";

const refused = new StoreUnavailable("PostgreSQL: cannot execute INSERT in a read-only transaction");

test("logs only every ten seconds if a server answers some requests and refuses others", () => {
  const { health, levels, clock } = watched();

  for (; clock.now < 25_000; clock.now += 100) {
    assert.equal(health.report(refused), refused);
    assert.ok(health.isFailing());
    health.recovered();
    assert.ok(!health.isFailing());
  }

  assert.deepEqual(levels(), ["error", "info", "error", "info", "error", "info"]);
});

test("logs a failure after a recent recovery only if the server still does not answer after ten seconds", () => {
  const { health, levels, clock } = watched();
  health.report(refused);
  health.recovered();

  for (clock.now = 5000; clock.now < 60_000; clock.now += 1000) health.report(refused);
  health.recovered();

  assert.deepEqual(levels(), ["error", "info", "error", "info"]);
});

function watched() {
  const observed: Observation[] = [];
  const clock = { now: 0 };
  const health = makeHealth(
    (each) => observed.push(each),
    () => clock.now,
  );
  return { health, clock, levels: () => observed.map((each) => each.kind === "notice" && each.level) };
}
