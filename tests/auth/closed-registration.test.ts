import assert from "node:assert/strict";
import { test } from "node:test";
import { serve, withMail } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

test("creates no user from a sign-up after the registration was closed, and keeps the link", async (t) => {
  const settings = {
    ...withMail,
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that all processes of the service know",
  };
  const verified = { settings: { ...settings, LATCHKEY_REGISTRATION: "verified" } };
  const before = await serve(t, verified);
  assert.equal((await before.post("/users", { name: "Ann", email: "ann@example.com" })).status, 202);
  const [mail] = await before.mails();
  const token = /token=([\w.~-]+)/.exec(mail!.text)![1]!;
  await before.service.close();
  const body = { token, password: "password of Ann" };

  const closed = await serve(t, { settings });
  const refused = await closed.post("/api/email/confirm/", body);
  await closed.service.close();
  const again = await serve(t, verified);
  const created = await again.post("/api/email/confirm/", body);

  assert.deepEqual([refused.status, refused.json.code], [400, "invalid_link"], refused.text);
  assert.equal(created.status, 201, created.text);
});
