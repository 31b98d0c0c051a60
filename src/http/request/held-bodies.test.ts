import assert from "node:assert/strict";
import { test } from "node:test";
import { makeHeldBodies } from "./held-bodies.ts";

test("limits each holder and all holders together, and frees released memory", () => {
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

test("counts the records of the largest attempt in addition to the body, and returns the remaining room", () => {
  const bodies = makeHeldBodies({ ofAll: 100, ofOne: 10 });
  const [ann, also] = [bodies.hold("ann"), bodies.hold("ann")];

  ann.take(2);
  ann.takeRecords(5);
  ann.takeRecords(3);
  ann.takeRecords(6);

  assert.deepEqual([ann.room(), also.room()], [8, 10]);
  assert.throws(() => also.take(3), { code: "unavailable" });
  also.take(2);
  ann.release();
  also.takeRecords(8);
  assert.throws(() => also.takeRecords(9), { code: "unavailable" });
});
