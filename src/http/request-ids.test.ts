import assert from "node:assert/strict";
import test from "node:test";
import { requestIds } from "./request-ids.ts";

test("makes 5,000 different ids of 22 characters", () => {
  const make = requestIds();

  const made = Array.from({ length: 5000 }, make);

  assert.equal(new Set(made).size, 5000);
  for (const id of made) assert.match(id, /^[\w-]{22}$/);
});

test("makes ids from random bits only, without a counter that would reveal the number of requests", () => {
  const make = requestIds((bytes) => bytes.fill(7));

  assert.equal(new Set(Array.from({ length: 1500 }, make)).size, 1);
});
