import assert from "node:assert/strict";
import { test } from "node:test";
import type { Account } from "../records/accounts.ts";
import { makeVerifiedMemory } from "./verified-memory.ts";

const ada: Account = {
  id: 1,
  username: "ada",
  role: "user",
  active: true,
  passwordHash: "x",
  passwordUntil: null,
  generation: 1,
  createdAt: "",
  lastLoginAt: null,
  remainingFamily: null,
  roleChanges: 0,
};

test("forgets entries after a time, on demand, and if there are too many", () => {
  const memory = makeVerifiedMemory(60, 2);

  for (const key of ["a", "b", "c"]) memory.remember(key, ada, 0);

  assert.equal(memory.find("a", 0), null);
  assert.equal(memory.find("b", 0), ada);
  memory.forget("b");
  assert.equal(memory.find("b", 0), null);
  assert.equal(memory.find("c", 60_000), null);
});

test("uses a key that reveals nothing of the credential and belongs to one process", () => {
  const memory = makeVerifiedMemory();

  assert.equal(memory.deriveKey("secret"), memory.deriveKey("secret"));
  assert.notEqual(memory.deriveKey("secret"), makeVerifiedMemory().deriveKey("secret"));
});
