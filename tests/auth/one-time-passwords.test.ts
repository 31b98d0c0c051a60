import assert from "node:assert/strict";
import { test } from "node:test";
import { basicHeader, serve, type API } from "../harness/serve.ts";

const chosen = "quartz lantern 42";

async function newcomer(api: API): Promise<{ readonly id: number; readonly email: string }> {
  const { json } = await api.post("/users", { name: "Ann", email: "ann@example.com" }, api.admin);
  return json;
}

async function drawFor(api: API, id: number): Promise<string> {
  const drawn = await api.post(`/users/${id}/password`, undefined, api.admin);
  assert.equal(drawn.status, 201);
  assert.equal(drawn.headers.get("cache-control"), "no-store");
  return drawn.json.password;
}

const logIn = (api: API, username: string, password: string) => api.post("/api/session/", { username, password });

test("accepts a one-time password for one login, and in that login as the proof for a new password", async (t) => {
  const api = await serve(t);
  const { id, email } = await newcomer(api);
  const password = await drawFor(api, id);

  const first = await logIn(api, email, password);
  const cookie = { cookie: first.headers.getSetCookie()[0]!.split(";")[0]!, "sec-fetch-site": "same-origin" };
  const second = await logIn(api, email, password);
  const asProof = await api.patch(`/users/${id}`, { password: chosen, current_password: password }, cookie);

  assert.deepEqual([first.status, second.status, asProof.status], [201, 401, 200]);
  assert.equal((await logIn(api, email, chosen)).status, 201);
  assert.equal((await logIn(api, email, chosen)).status, 201);
  assert.equal((await logIn(api, email, password)).status, 401);
});

test("accepts one of many concurrent logins with a one-time password, in any kind of login", async (t) => {
  const api = await serve(t);
  const { id, email } = await newcomer(api);
  const password = await drawFor(api, id);
  const paths = ["/api/session/", "/api/token/", "/api-token-auth/"];

  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, at) => api.post(paths[at % paths.length]!, { username: email, password })),
  );

  const lost = answers.filter(({ status }) => status >= 400);
  assert.equal(lost.length, answers.length - 1);
  for (const { status, json, text } of lost) assert.deepEqual([status, json.code], [401, "invalid_credentials"], text);
});

test("refuses a one-time password with Basic, and at a login after seven days", async (t) => {
  const api = await serve(t);
  const { id, email } = await newcomer(api);
  const password = await drawFor(api, id);

  assert.equal((await api.get("/protected/", basicHeader(email, password))).status, 401);
  api.clock.turn(7 * 86_400 + 1);
  assert.equal((await logIn(api, email, password)).status, 401);
});

test("revokes the old password and all logins when a one-time password is made, and shows it in no observation and no account", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const pair = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json;
  const session = await logIn(api, ann.email, ann.password);
  const cookie = { cookie: session.headers.getSetCookie()[0]!.split(";")[0]! };

  const password = await drawFor(api, ann.id);

  assert.equal((await api.get("/protected/", cookie)).status, 401);
  assert.equal((await api.get("/protected/", { authorization: `Bearer ${pair.access}` })).status, 401);
  assert.equal((await api.get("/protected/", ann.headers)).status, 401);
  assert.ok(!JSON.stringify(api.observed).includes(password));
  const stored = JSON.stringify(await api.get(`/users/${ann.id}/account`, api.admin));
  assert.ok(!stored.includes(password));
});

test("lets only administrators with a fresh login create a one-time password, for another active user", async (t) => {
  const api = await serve(t);
  const [ann, ben] = [await api.user("Ann"), await api.user("Ben")];
  const draw = (id: number, headers = api.admin, body?: unknown) => api.post(`/users/${id}/password`, body, headers);
  const { token } = (await api.post("/users/1/token", undefined, api.admin)).json;
  const program = { authorization: `Token ${token}` };

  assert.equal((await draw(ben.id, ann.headers)).status, 403);
  assert.equal((await draw(ann.id, ann.headers)).status, 403);
  assert.equal((await draw(ann.id, {})).status, 401);
  assert.equal((await draw(1)).status, 409);
  assert.equal((await draw(999)).status, 404);
  assert.equal((await draw(ben.id, program)).json.errors[0].pointer, "/current_password");
  assert.equal((await draw(ben.id, program, { current_password: "first-administrator" })).status, 201);
  const { key } = (await api.post("/users/1/keys", { name: "laptop" }, api.admin)).json;
  const byKey = await draw(ben.id, { authorization: `Token ${key}` }, { current_password: "first-administrator" });
  assert.deepEqual([byKey.status, byKey.json.code], [403, "permission_denied"], byKey.text);
  assert.equal((await draw(ben.id, { ...api.admin, "idempotency-key": "12345678" })).status, 400);
  await api.patch(`/users/${ben.id}/account`, { active: false }, api.admin);
  assert.equal((await draw(ben.id)).status, 409);
});
