import assert from "node:assert/strict";
import { test } from "node:test";
import { makeHeldBodies } from "./held-bodies.ts";

test("limits one holder and all together, and gives released memory back", () => {
  const bodies = makeHeldBodies({ ofAll: 10, ofOne: 4 });
  const ann = bodies.hold("ann");
  const alsoAnn = bodies.hold("ann");
  const ben = bodies.hold("ben");
  const cleo = bodies.hold("cleo");

  ann.take(3);
  assert.throws(() => alsoAnn.take(2), {
    code: "unavailable",
    detail: "Too many of your requests are being sent at once.",
  });
  ben.take(4);
  cleo.take(3);
  assert.throws(() => cleo.take(1), { code: "unavailable", detail: "Too many requests are being sent at once." });

  ann.release();
  ann.release();
  alsoAnn.take(3);
  assert.throws(() => cleo.take(1));
});
