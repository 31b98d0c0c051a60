import assert from "node:assert/strict";
import { test } from "node:test";
import type { Identity } from "../../core/identity.ts";
import { accepted, type Scheme } from "./scheme.ts";
import { requireVerdict } from "./verdict.ts";

const scheme = { name: "badge" } as Scheme;

const ada: Identity = { id: 7, username: "ada", role: "user", scheme: "badge", scopes: null, expiresAt: null };

/** Wrong values of each member. The type requires a line for each new member. */
const wrong: Readonly<Record<keyof Identity, readonly unknown[]>> = {
  id: [undefined, null, -1, 1.5, "7", 2 ** 53],
  username: [undefined, null, "", 7],
  role: [undefined, null, "", 7],
  scheme: [undefined, null, "", 7],
  scopes: [undefined, "read", [7], {}],
  expiresAt: [undefined, "never", Number.NaN, Infinity],
  sessionId: [null, 7],
  family: [null, 7],
  keyId: [null, 7],
  issuer: [null, 7],
  authTime: [null, "now", Number.NaN],
  proofs: [null, {}, [null], [{ method: "guess", at: 1 }], [{ method: "pwd" }], [{ method: "pwd", at: "now" }]],
  level: [null, 3, "2"],
  needs: [null, 3, "2"],
  actor: [null, {}, { id: 1 }, { id: "1", username: "root" }, { id: 1, username: 7 }],
  fields: [null, "red", 7],
};

for (const [member, values] of Object.entries(wrong))
  test(`refuses an identity with a wrong ${member}`, () => {
    for (const value of values) {
      const verdict = accepted({ ...ada, [member]: value });

      assert.throws(() => requireVerdict(scheme, verdict), new RegExp(`the identity's ${member} is of the wrong type`));
    }
  });

test("accepts an identity with all members", () => {
  const verdict = accepted({
    ...ada,
    scopes: ["read"],
    expiresAt: 1,
    sessionId: "s",
    family: "f",
    keyId: "k",
    issuer: "https://id.example",
    authTime: 1,
    proofs: [{ method: "pwd", at: 1 }],
    level: 1,
    needs: 2,
    actor: { id: 1, username: "root" },
    fields: {},
  });

  assert.equal(requireVerdict(scheme, verdict), verdict);
});
