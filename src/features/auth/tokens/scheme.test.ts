import assert from "node:assert/strict";
import { test } from "node:test";
import { accepted, rejected } from "../../../access/scheme/scheme.ts";
import { callOf } from "../../../testing/calls.ts";
import { bearer } from "./scheme.ts";

const ada = { id: 7, username: "ada", role: "user", scheme: "bearer", scopes: null, expiresAt: 0 } as const;
const scheme = bearer({ access: { verify: (_token, now) => (now === 5 ? accepted(ada) : rejected("expired")) } });

test("names an error in the challenge only if a token was presented", () => {
  assert.equal(scheme.challenge?.(callOf(), null), 'Bearer realm="api"');
  assert.equal(
    scheme.challenge?.(callOf(), rejected("expired")),
    'Bearer realm="api", error="invalid_token", error_description="The token is invalid, expired or revoked."',
  );
});

test("replaces characters of a detail that could end the quoted string of the challenge", () => {
  const challenge = scheme.challenge?.(callOf(), rejected("forged", 'a"b\\c\r\nSet-Cookie: x\u00e4'));

  assert.equal(challenge, 'Bearer realm="api", error="invalid_token", error_description="a?b?c??Set-Cookie: x?"');
});

test("verifies a token at the time of the call", () => {
  const carrier = scheme.carriers[0]!;

  assert.deepEqual(scheme.authenticate("token", callOf({ now: 5 }), carrier), accepted(ada));
  assert.deepEqual(scheme.authenticate("token", callOf({ now: 6 }), carrier), rejected("expired"));
});
