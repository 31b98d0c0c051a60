import assert from "node:assert/strict";
import { test } from "node:test";
import { arrive } from "../harness/arrive.ts";
import { serve, type API } from "../harness/serve.ts";

type Headers = Readonly<Record<string, string>>;
const proxy = "10.0.0.1";
const withRemoteUser = { LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user", LATCHKEY_TRUSTED_PROXIES: proxy };

/** Requests a key and an API token. */
const makes = async (api: API, id: number, headers: Headers, body: object = {}) => {
  const key = await api.post(`/users/${id}/keys`, { name: "k", ...body }, headers);
  const token = await api.post(`/users/${id}/token`, body, headers);
  return { key, token, statuses: [key.status, token.status] };
};

test("lets a caller make credentials with a fresh login or with the current password", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const { email: username, password } = ann;
  const session = await api.post("/api/session/", { username, password });
  const cookie = { cookie: session.headers.get("set-cookie")!.split(";")[0]! };
  let pair = (await api.post("/api/token/", { username, password })).json;
  const bearing = () => ({ authorization: `Bearer ${pair.access}` });
  const refresh = async () => (pair = (await api.post("/api/token/refresh/", { refresh: pair.refresh })).json);
  assert.deepEqual((await makes(api, ann.id, cookie)).statuses, [201, 201]);
  assert.deepEqual((await makes(api, ann.id, bearing())).statuses, [201, 200]);

  api.clock.turn(599);
  await refresh();
  assert.deepEqual((await makes(api, ann.id, cookie)).statuses, [201, 200]);
  assert.deepEqual((await makes(api, ann.id, bearing())).statuses, [201, 200]);
  api.clock.turn(1);
  await refresh();
  for (const headers of [cookie, bearing()]) {
    const { key, token, statuses } = await makes(api, ann.id, headers);
    assert.deepEqual(statuses, [400, 400]);
    for (const { json } of [key, token])
      assert.deepEqual([json.errors[0].pointer, json.errors[0].code], ["/current_password", "required"]);
    assert.deepEqual((await makes(api, ann.id, headers, { current_password: password })).statuses, [201, 200]);
    assert.deepEqual((await makes(api, ann.id, headers, { current_password: "wrong one" })).statuses, [400, 400]);
  }
  assert.deepEqual((await makes(api, ann.id, ann.headers)).statuses, [201, 200], "Basic is always fresh");
  assert.equal((await api.post(`/users/${ann.id}/token`, undefined, ann.headers)).status, 200);
});

test("treats a login as stale if the clock was set back after it", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SCHEMES: "basic,session,token" } });
  const ann = await api.user("Ann");
  const session = await api.post("/api/session/", { username: ann.email, password: ann.password });
  const cookie = { cookie: session.headers.get("set-cookie")!.split(";")[0]! };

  api.clock.turn(-3600);

  assert.deepEqual((await makes(api, ann.id, cookie)).statuses, [400, 400]);
  assert.deepEqual((await makes(api, ann.id, cookie, { current_password: ann.password })).statuses, [201, 201]);
});

test("requires the password if a caller makes credentials with an API token, and refuses a caller with a key", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const first = await makes(api, ann.id, ann.headers);
  const byToken = { authorization: `Token ${first.token.json.token}` };
  const byKey = { authorization: `Token ${first.key.json.key}` };

  assert.deepEqual((await makes(api, ann.id, byToken)).statuses, [400, 400]);
  assert.deepEqual((await makes(api, ann.id, byToken, { current_password: ann.password })).statuses, [201, 200]);
  for (const body of [{}, { current_password: ann.password }, { bogus: 1 }])
    assert.deepEqual((await makes(api, ann.id, byKey, body)).statuses, [403, 403]);
});

test("requires an administrator's own password to make another user's key, and counts wrong passwords as guesses", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const login = { username: "admin", password: "first-administrator" };
  const { refresh } = (await api.post("/api/token/", login)).json;
  api.clock.turn(601);
  const { access } = (await api.post("/api/token/refresh/", { refresh })).json;
  const admin = { authorization: `Bearer ${access}` };

  const proof = { current_password: login.password };
  assert.deepEqual((await makes(api, ann.id, admin, { current_password: ann.password })).statuses, [400, 400]);
  assert.deepEqual((await makes(api, ann.id, admin, proof)).statuses, [201, 201]);
  const tries = [];
  for (let turn = 0; turn < 11; turn++)
    tries.push(...(await makes(api, ann.id, admin, { current_password: "no" })).statuses);
  assert.ok(tries.includes(429));
});

test("limits the lifetime of credentials that a remote user makes, and makes none if LATCHKEY_OUTSIDE_CREDENTIALS_SECONDS is 0", async (t) => {
  const ask = (api: API, path: string, body: object, remote: string) =>
    arrive(api, path, {
      method: "POST",
      peer: proxy,
      headers: [
        ["X-Forwarded-Proto", "https"],
        ["X-Remote-User", remote],
      ],
      body,
    });
  const api = await serve(t, { settings: { ...withRemoteUser, LATCHKEY_OUTSIDE_CREDENTIALS_SECONDS: "3600" } });
  const ann = await api.user("Ann");

  const key = await ask(api, `/users/${ann.id}/keys`, { name: "k" }, ann.email);
  const token = await ask(api, `/users/${ann.id}/token`, {}, ann.email);
  const later = new Date(api.clock.now + 3_601_000).toISOString();
  const tooLate = await ask(api, `/users/${ann.id}/keys`, { name: "k", expires_at: later }, ann.email);

  assert.deepEqual([key.status, key.json.expires_at], [201, "2026-01-31T10:30:00.000Z"], JSON.stringify(key.json));
  assert.deepEqual([tooLate.status, tooLate.json.errors[0].pointer], [400, "/expires_at"]);
  const headers = { authorization: `Token ${token.json.token}` };
  assert.equal((await api.get("/api/session/", headers)).json.expires_at, "2026-01-31T10:30:00.000Z");
  api.clock.turn(3600);
  assert.equal((await api.get("/protected/", headers)).status, 401);
  const next = await api.post(`/users/${ann.id}/token`, {}, ann.headers);
  assert.equal(next.status, 201);
  assert.notEqual(next.json.token, token.json.token);

  const strict = await serve(t, { settings: { ...withRemoteUser, LATCHKEY_OUTSIDE_CREDENTIALS_SECONDS: "0" } });
  const bob = await strict.user("Bob");
  for (const path of [`/users/${bob.id}/keys`, `/users/${bob.id}/token`])
    assert.equal((await ask(strict, path, { name: "k" }, bob.email)).status, path.endsWith("keys") ? 403 : 400);
  assert.equal((await ask(strict, `/users/${bob.id}/token`, {}, bob.email)).status, 403);
});

test("shows a remote user no API token with a longer lifetime than LATCHKEY_OUTSIDE_CREDENTIALS_SECONDS", async (t) => {
  const api = await serve(t, { settings: { ...withRemoteUser, LATCHKEY_OUTSIDE_CREDENTIALS_SECONDS: "3600" } });
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}/token`;
  const ask = (method: string) =>
    arrive(api, path, {
      method,
      peer: proxy,
      headers: [
        ["X-Forwarded-Proto", "https"],
        ["X-Remote-User", ann.email],
      ],
    });
  assert.equal((await api.post(path, {}, ann.headers)).status, 201);

  const refused = await ask("POST");

  assert.deepEqual([refused.status, refused.json.code, refused.json.token], [409, "conflict", undefined]);
  assert.equal((await api.post(path, {}, ann.headers)).status, 200, "a login with Basic still gets the token");
  assert.equal((await ask("DELETE")).status, 204);
  const made = await ask("POST");
  api.clock.turn(60);
  const again = await ask("POST");
  assert.deepEqual([made.status, again.status, again.json.token], [201, 200, made.json.token]);
});

test("refuses an Idempotency-Key if the response has a secret, which must not be stored for a replay", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const key = { "idempotency-key": "key-number-1" };
  const login = { username: ann.email, password: ann.password };

  for (const [path, body, headers] of [
    [`/users/${ann.id}/keys`, { name: "k" }, ann.headers],
    [`/users/${ann.id}/token`, undefined, ann.headers],
    ["/api-token-auth/", login, {}],
    ["/api/token/", login, {}],
    ["/api/session/", login, {}],
    ["/api/token/refresh/", { refresh: "x" }, {}],
  ] as const) {
    const reply = await api.post(path, body, { ...headers, ...key });
    assert.deepEqual([reply.status, reply.json.code], [400, "malformed"], path);
  }
  assert.equal((await api.get(`/users/${ann.id}/keys`, ann.headers)).text, "[]");
  assert.equal((await api.get(`/users/${ann.id}/token`, ann.headers)).status, 404);
});
