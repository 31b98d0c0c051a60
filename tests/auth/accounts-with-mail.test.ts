import assert from "node:assert/strict";
import { test } from "node:test";
import { root, startMailed } from "../harness/verified-emails.ts";

test("changes an account of a service with mail that neither invites nor verifies users", async (t) => {
  const api = await startMailed(t, { registration: "open" });

  const changed = await api.ask("PATCH", "/users/2/account", { active: false }, root);
  const read = await api.ask("GET", "/users/2/account", undefined, root);
  const refused = await api.ask("PATCH", "/users/2/account", { email_verified_at: "2026-01-01T00:00:00Z" }, root);

  assert.deepEqual([changed.status, changed.json.active], [200, false], changed.text);
  assert.deepEqual(read.json, changed.json);
  assert.equal(read.json.email_verified_at, null);
  assert.deepEqual(
    [refused.status, refused.json.errors],
    [400, [{ pointer: "/email_verified_at", code: "read_only", detail: "This field cannot be set." }]],
  );
});
