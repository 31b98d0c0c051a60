import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../../core/crypto/secret.ts";
import { callOf } from "../../../testing/calls.ts";
import type { Account } from "../records/accounts.ts";
import { customHeader } from "./scheme.ts";

const ada: Account = {
  id: 7,
  username: "ada",
  role: "user",
  active: true,
  passwordHash: null,
  passwordUntil: null,
  generation: 1,
  createdAt: "",
  lastLoginAt: null,
  remainingFamily: null,
  roleChanges: 0,
};
const token = new Secret("a-token-of-32-characters-or-more");

function ask(presented: string, account: Account | null) {
  const scheme = customHeader({ token, account: () => account });
  return scheme.authenticate(presented, callOf(), scheme.carriers[0]!);
}

test("accepts the token as the configured account, without waiting", () => {
  assert.deepEqual(ask("a-token-of-32-characters-or-more", ada), {
    kind: "accepted",
    identity: {
      id: 7,
      username: "ada",
      role: "user",
      scheme: "custom-header",
      scopes: null,
      expiresAt: null,
      needs: 1,
    },
  });
});

test("answers a wrong token and the token of a missing or inactive account with the same message", () => {
  const detail = "Invalid or missing token.";

  for (const wrong of ["x", "a-token-of-32-characters-or-more ", "A-token-of-32-characters-or-more"]) {
    assert.deepEqual(ask(wrong, ada), { kind: "rejected", reason: "unknown", detail });
  }
  assert.deepEqual(ask("a-token-of-32-characters-or-more", null), { kind: "rejected", reason: "inactive", detail });
  assert.deepEqual(ask("a-token-of-32-characters-or-more", { ...ada, active: false }), {
    kind: "rejected",
    reason: "inactive",
    detail,
  });
  assert.equal(customHeader({ token, account: () => ada }).missingDetail, detail);
});

test("uses the header X-Custom-Token by default, and sends no challenge", () => {
  assert.deepEqual(customHeader({ token, account: () => ada }).carriers, [{ in: "header", name: "X-Custom-Token" }]);
  assert.deepEqual(customHeader({ header: "X-Door", token, account: () => ada }).carriers, [
    { in: "header", name: "X-Door" },
  ]);
  assert.equal(customHeader({ token, account: () => ada }).challenge, undefined);
});
