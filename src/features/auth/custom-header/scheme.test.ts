import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../../core/crypto/secret.ts";
import { callOf } from "../../../testing/calls.ts";
import type { Account } from "../accounts/stored-accounts.ts";
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
  keptFamily: null,
  roleChanges: 0,
};
const token = new Secret("a-token-of-32-characters-or-more");

function ask(presented: string, account: Account | null) {
  const scheme = customHeader({ token, account: () => account });
  return scheme.authenticate(presented, callOf(), scheme.carriers[0]!);
}

test("whoever knows the token acts as the one account, and hears so at once", () => {
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

test("a wrong token, and the right one for an account that is gone or inactive, are told in the same words", () => {
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

test("the header is X-Custom-Token where no other is named, and has no challenge", () => {
  assert.deepEqual(customHeader({ token, account: () => ada }).carriers, [{ in: "header", name: "X-Custom-Token" }]);
  assert.deepEqual(customHeader({ header: "X-Door", token, account: () => ada }).carriers, [
    { in: "header", name: "X-Door" },
  ]);
  assert.equal(customHeader({ token, account: () => ada }).challenge, undefined);
});
