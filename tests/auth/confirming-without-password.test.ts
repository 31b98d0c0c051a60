import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { pendingLoginsCollection } from "../../src/features/auth/gate/pending.ts";
import { arrive } from "../harness/arrive.ts";
import { readCookies } from "../harness/factors.ts";
import { MINUTE_MS, startMailFlows } from "../harness/mail-flows.ts";
import { outsideLogins } from "../harness/outside-logins.ts";
import { email as ada, password } from "../harness/own-logins.ts";
import { serve } from "../harness/serve.ts";

// A confirmation offers only the proofs that the account has.

const withoutPassword = {
  kind: "update",
  collection: accountsCollection,
  key: 1,
  values: { password_hash: null },
} as const;

test("confirms a login of an account without a password by a code from a mail", async (t) => {
  const api = await startMailFlows(t);
  await api.service.store.write({ changes: [withoutPassword] });
  const session = readCookies(await api.post("/api/session/", { token: (await api.loginCode()).token }));
  api.clock.now += 20 * MINUTE_MS;

  const started = await api.post("/api/login/confirm/", undefined, session);
  assert.deepEqual([started.status, started.json.needs], [200, "factor"], started.text);
  assert.deepEqual(started.json.factors, [{ id: "mail", kind: "mail" }]);
  const mail = await api.sent();
  assert.deepEqual([mail.to, mail.template, Object.keys(mail.values)], [ada, "confirm_code", ["code"]]);
  const confirmation = readCookies(started);
  const wrong = await api.post("/api/login/", { factor: "mail", code: "00000000" }, confirmation);
  assert.deepEqual([wrong.status, wrong.json.code], [401, "invalid_credentials"]);
  const empty = await api.post("/api/login/", { factor: "mail" }, confirmation);
  assert.deepEqual(
    [empty.status, empty.json.errors?.[0]],
    [400, { pointer: "/code", code: "required", detail: "This field is required." }],
  );
  const done = await api.post("/api/login/", { factor: "mail", code: mail.values["code"] }, confirmation);

  assert.equal(done.status, 201, done.text);
  const { amr, auth_time } = (await api.get("/api/session/", readCookies(done))).json;
  assert.deepEqual([amr, auth_time], [["mail"], new Date(api.clock.now).toISOString()]);
  const again = await api.post("/api/login/", { factor: "mail", code: mail.values["code"] }, confirmation);
  assert.deepEqual([again.status, again.json.code], [401, "login_expired"]);
});

test("takes no code from a mail for an account with a password, and no code of another purpose", async (t) => {
  const api = await startMailFlows(t);
  const session = readCookies(await api.post("/api/session/", { username: ada, password }));
  const byPassword = await api.post("/api/login/confirm/", undefined, session);
  assert.deepEqual(byPassword.json.factors, [{ id: "password", kind: "password", label: "Password" }]);
  const refused = await api.post("/api/login/", { factor: "mail", code: "12345678" }, readCookies(byPassword));
  assert.deepEqual([refused.status, refused.json.errors[0].pointer], [400, "/factor"], refused.text);

  await api.service.store.write({ changes: [withoutPassword] });
  const { code } = (await api.loginCode()).values;
  const started = readCookies(await api.post("/api/login/confirm/", undefined, session));
  const other = await api.post("/api/login/", { factor: "mail", code }, started);
  assert.deepEqual([other.status, other.json.code], [401, "invalid_credentials"], other.text);
});

test("takes no code from a mail for an account without a password that has a factor", async (t) => {
  const api = await startMailFlows(t);
  const { headers } = await api.addTOTP(1, await api.logIn());
  await api.service.store.write({ changes: [withoutPassword] });
  const started = await api.post("/api/login/confirm/", undefined, headers);
  const kinds = started.json.factors.map(({ kind }: { readonly kind: string }) => kind);
  assert.deepEqual([kinds, await api.mail.queued()], [["totp", "recovery"], 0]);

  const refused = await api.post("/api/login/", { factor: "mail", code: "12345678" }, readCookies(started));

  assert.deepEqual([refused.status, refused.json.errors?.[0].pointer], [400, "/factor"], refused.text);
});

test("answers 409 `no_proof` if the account has nothing to confirm with, and keeps no waiting login", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins().features } });
  const { json: ben } = await api.post("/users", { name: "Ben", email: "ben@example.com" }, api.admin);
  const headers = [["X-Badge-Login", ben.email]] as const;
  const { json } = await arrive(api, "/badge/tokens", { method: "POST", encrypted: true, headers });

  const refused = await api.post("/api/login/confirm/", undefined, { authorization: `Bearer ${json.access}` });

  assert.deepEqual([refused.status, refused.json.code], [409, "no_proof"], refused.text);
  const { store } = api.service;
  assert.equal(await store.count(pendingLoginsCollection, null), 0);
});
