import assert from "node:assert/strict";
import test from "node:test";
import { requestIds } from "./request-ids.ts";

test("makes ids of one length that differ, over many draws of chance", () => {
  const make = requestIds();

  const made = Array.from({ length: 5000 }, make);

  assert.equal(new Set(made).size, 5000);
  for (const id of made) assert.match(id, /^[\w-]{22}$/);
});

test("makes ids of nothing but chance, so that none tells how many there were before", () => {
  const make = requestIds((bytes) => bytes.fill(7));

  assert.equal(new Set(Array.from({ length: 1500 }, make)).size, 1);
});
