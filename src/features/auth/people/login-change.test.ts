import assert from "node:assert/strict";
import { test } from "node:test";
import { allowChange, loginColumns, type LoginChange } from "./login-change.ts";

test("returns the columns of a login for the right to change them", () => {
  const change = allowChange(7, ["password", "role"]);
  assert.deepEqual(loginColumns(change, 7, { password_hash: null, role: "user" }), {
    password_hash: null,
    role: "user",
  });
  assert.deepEqual(loginColumns(allowChange(7, []), 7, {}), {});
});

for (const [title, change, userId] of [
  ["of another account", allowChange(8, ["password", "email", "username", "role"]), 7],
  ["of other parts", allowChange(7, ["email", "username", "role"]), 7],
  ["of no parts", allowChange(7, []), 7],
  ["that was copied", { ...allowChange(7, ["password"]) }, 7],
  ["that code made itself", Object.freeze({}) as LoginChange, 7],
] as const)
  test(`changes no password with a right ${title}`, () => {
    assert.throws(() => loginColumns(change, userId, { password_hash: null }), TypeError);
    assert.throws(() => loginColumns(change, userId, { role: "user", password_until: null }), TypeError);
  });
