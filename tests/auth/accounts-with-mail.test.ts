import assert from "node:assert/strict";
import { test } from "node:test";
import { root, startMailed } from "../harness/verified-emails.ts";

test("changes an account of a service with mail that neither invites nor verifies users", async (t) => {
  const api = await startMailed(t, { registration: "open" });

  const changed = await api.ask("PATCH", "/users/2/account", { active: false }, root);

  assert.deepEqual([changed.status, changed.json.active], [200, false]);
  assert.equal(Object.hasOwn(changed.json, "email_verified_at"), false);
});
