import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { readCookies } from "../harness/factors.ts";
import { serve, withMail, type API } from "../harness/serve.ts";

// An account without a password is never asked for one. It needs a login of the last ten minutes instead.

const settings = { ...withMail, LATCHKEY_LOGIN_CODES: "on" };
const ann = { name: "Ann", email: "ann@example.com" };

/** Creates Ann (id 2) without a password and logs her in with a code from her mailbox. */
async function startAnn(api: API): Promise<Record<string, string>> {
  assert.equal((await api.post("/users", ann, api.admin)).status, 201);
  return logIn(api);
}

async function logIn(api: API): Promise<Record<string, string>> {
  assert.equal((await api.post("/api/login/code/", { email: ann.email })).status, 202);
  // A notice may come before the code.
  const codes = (await api.mails()).flatMap(({ text }) => /^\d{8}$/m.exec(text) ?? []);
  assert.equal(codes.length, 1);
  const [code] = codes;
  const session = await api.post("/api/session/", { email: ann.email, code });
  assert.equal(session.status, 201, session.text);
  return readCookies(session);
}

const changes = {
  "a username": (api: API, as: Record<string, string>) => api.patch("/users/2/account", { username: "ann" }, as),
  "a username in /users": (api: API, as: Record<string, string>) => api.patch("/users/2", { username: "ann2" }, as),
  "an address": (api: API, as: Record<string, string>) => api.post("/users/2/email", { email: "a@example.com" }, as),
  "a key": (api: API, as: Record<string, string>) => api.post("/users/2/keys", { name: "k" }, as),
  "an API token": (api: API, as: Record<string, string>) => api.post("/users/2/token", undefined, as),
  "a factor": (api: API, as: Record<string, string>) => api.post("/users/2/factors", { kind: "totp" }, as),
  "a password": (api: API, as: Record<string, string>) => api.patch("/users/2", { password: "another pass 1" }, as),
};

test("changes the login of an account without a password within ten minutes of a login", async (t) => {
  const api = await serve(t, { settings });
  const session = await startAnn(api);
  api.clock.turn(599);

  for (const [name, send] of Object.entries(changes)) {
    const { status, text } = await send(api, session);
    assert.ok(status < 300, `${name}: ${text}`);
  }
});

test("asks an account without a password for a new login after ten minutes, and never for a password", async (t) => {
  const api = await serve(t, { settings });
  const session = await startAnn(api);
  api.clock.turn(601);

  for (const [name, send] of Object.entries(changes)) {
    const { status, json, headers } = await send(api, session);
    assert.deepEqual([status, json?.code], [401, "confirmation_required"], name);
    assert.match(headers.get("www-authenticate") ?? "", /max_age="600", acr_values="1"/, name);
  }
  const sent = await api.patch("/users/2", { password: "another pass 1", current_password: "any" }, session);
  assert.deepEqual([sent.status, sent.json.code], [401, "confirmation_required"]);
  assert.equal((await changes["a password"](api, await logIn(api))).status, 200);
});

test("takes a password that can no longer be checked for no password", async (t) => {
  const api = await serve(t, { settings });
  await startAnn(api);
  // The administrator draws a password. It expires before it is used, and Ann logs in by mail.
  assert.equal((await api.post("/users/2/password", undefined, api.admin)).status, 201);
  api.clock.turn(8 * 86_400);
  const expired = await changes["a password"](api, await logIn(api));
  const values = { password_hash: "md5$a$hash-that-no-version-knows" };
  await api.service.store.write({ changes: [{ kind: "update", collection: accountsCollection, key: 2, values }] });
  api.clock.turn(61);
  const unknown = await changes["a password"](api, await logIn(api));

  assert.deepEqual([expired.status, unknown.status], [200, 200]);
});
