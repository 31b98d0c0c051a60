import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { accepted, defineFeature, type Scheme } from "../../src/door/index.ts";
import type { WrittenValues } from "../../src/door/stores.ts";
import { totpCode } from "../../src/testing/testing.ts";
import { addTOTP, readCookies, startLogin } from "../harness/factors.ts";
import { serve, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

// Logins that wait for a proof while the account, the service or another request changes.

/**
 * Changes an account directly in the database, as another program would. The service ends no login or credential at
 * this write.
 */
async function writeAccount({ service }: API, id: number, values: WrittenValues): Promise<void> {
  const changes = [{ kind: "update", collection: accountsCollection, key: id, values }] as const;
  assert.equal((await service.store.write({ changes })).kind, "written");
}

test("completes no login of an account that another program has deactivated or changed", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const { generation } = (await api.service.store.find(accountsCollection, ann.id))!.record;
  const before = { active: true, generation };

  for (const changed of [{ active: false }, { generation: Number(generation) + 1 }]) {
    const { pending } = (await startLogin(api, ann)).json.login;
    await writeAccount(api, ann.id, changed);
    const answer = { pending, factor: ann.factor, code: ann.code() };
    const refused = await api.post("/api/login/", answer);
    assert.deepEqual([refused.status, refused.json.code], [401, "login_expired"], refused.text);
    await writeAccount(api, ann.id, before as WrittenValues);
    assert.equal((await api.post("/api/login/", answer)).status, 200);
    api.clock.turn(30);
  }
});

test("completes and confirms no login of a kind that was turned off in the meantime", async (t) => {
  const database = { LATCHKEY_DATABASE: (await sharedDatabase(t)).url };
  const settings = { ...database, LATCHKEY_SECRET: "a secret that both of the services know" };
  const before = await serve(t, { settings });
  const ann = await addTOTP(before, "Ann");
  const login = { username: ann.email, password: ann.password };
  const session = await before.post("/api/session/", login);
  const tokens = await before.post("/api/token/", login);
  const apiToken = await before.post("/api-token-auth/", login);
  const confirmation = await before.post("/api/login/confirm/", undefined, ann.headers);
  const { now } = before.clock;
  await before.service.close();

  const after = await serve(t, { settings: { ...settings, LATCHKEY_SCHEMES: "basic" } });
  after.clock.now = now;
  for (const { json, headers } of [session, tokens, apiToken, confirmation]) {
    const cookie = headers.getSetCookie()[0]?.split(";")[0];
    const pending = json.login?.pending;
    assert.notEqual(pending ?? cookie, undefined);
    const body = { factor: ann.factor, code: ann.code(), ...(pending === undefined ? {} : { pending }) };
    const refused = await after.post("/api/login/", body, cookie === undefined ? {} : { cookie });
    assert.deepEqual([refused.status, refused.json.code], [401, "login_expired"], refused.text);
  }
});

test("confirms a login once if two answers come at the same time", async (t) => {
  const api = await serve(t);
  const { email: username, password } = await api.user("Ann");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const headers = { authorization: `Bearer ${access}` };
  const { pending } = (await api.post("/api/login/confirm/", undefined, headers)).json;

  const confirm = () => api.post("/api/login/", { pending, factor: "password", password });
  const answers = await Promise.all([confirm(), confirm(), confirm()]);

  const won = answers.filter(({ status }) => status === 200);
  const lost = answers.filter(({ status }) => status !== 200);
  assert.equal(won.length, 1);
  for (const { status, json, text } of lost) assert.deepEqual([status, json.code], [401, "login_expired"], text);
});

test("confirms a new factor once if two answers come at the same time", async (t) => {
  const api = await serve(t);
  const { id, email: username, password } = await api.user("Ann");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const headers = { authorization: `Bearer ${access}` };
  const made = (await api.post(`/users/${id}/factors`, { kind: "totp" }, headers)).json;
  const code = totpCode(made.secret, api.clock.now);

  const confirm = () => api.post(`/users/${id}/factors/${made.id}/confirm`, { code }, headers);
  const [one, other] = await Promise.all([confirm(), confirm()]);

  const [won, lost] = one.status === 200 ? [one, other] : [other, one];
  assert.equal(won.status, 200, won.text);
  assert.equal(won.json.recovery_codes.length, 10);
  assert.deepEqual([lost.status, lost.json.code], [409, "conflict"], lost.text);
});

test("confirms nothing for a caller who is not a user of the service", async (t) => {
  const guest: Scheme = {
    name: "guest",
    carriers: [{ in: "header", name: "X-Guest" }],
    proves: ["pwd"],
    authenticate: (username) =>
      accepted({ id: 0, username, role: "user", scheme: "guest", scopes: null, expiresAt: null }),
  };
  const guests = defineFeature({ name: "guests", setUp: () => ({ offer: null, schemes: [guest] }) });
  const api = await serve(t, { config: { features: [guests] } });

  const refused = await api.post("/api/login/confirm/", undefined, { "x-guest": "Gil" });

  assert.deepEqual([refused.status, refused.json.code], [404, "not_found"], refused.text);
});

test("knows the waiting login of a browser by its cookie alone, and that of a program by its name alone", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const login = { username: ann.email, password: ann.password };
  const byCookie = readCookies(await api.post("/api/session/", login));
  const [cookieName, kept] = byCookie["cookie"]!.split("=") as [string, string];
  const { pending } = (await api.post("/api/token/", login)).json.login;
  const confirmation = readCookies(await api.post("/api/login/confirm/", undefined, ann.headers));
  const asked = confirmation["cookie"]!.split("=")[1]!;

  const answer = { factor: ann.factor, code: ann.code() };
  const unknown = [
    await api.post("/api/login/", { pending: kept, ...answer }),
    await api.post("/api/login/", { pending: kept, ...answer }, byCookie),
    await api.post("/api/login/factors/", { pending: kept, kind: "totp" }),
    await api.post("/api/login/", { pending: asked, ...answer }),
    await api.post("/api/login/", answer, { cookie: `${cookieName}=${pending}` }),
    await api.get("/api/login/", { cookie: `${cookieName}=${pending}` }),
  ];

  for (const { status, json, text } of unknown) assert.deepEqual([status, json.code], [401, "login_expired"], text);
  assert.equal((await api.post("/api/login/", answer, byCookie)).status, 201);
  api.clock.turn(30);
  assert.equal((await api.post("/api/login/", { pending, ...answer, code: ann.code() })).status, 200);
});
