import assert from "node:assert/strict";
import { test } from "node:test";
import { factorsCollection } from "../../src/features/auth/gate/factors.ts";
import { totpCode } from "../../src/testing/testing.ts";
import { arrive } from "../harness/arrive.ts";
import { addTOTP, startLogin, type TOTPUser } from "../harness/factors.ts";
import { outsideLogins } from "../harness/outside-logins.ts";
import { serve, type API } from "../harness/serve.ts";

// A caller who knows only the password ends no waiting login of the owner, and uses up no place for a factor.

/** Starts a login from an address. Returns the name of the waiting login. */
async function start(api: API, { email: username, password }: Pick<TOTPUser, "email" | "password">, peer: string) {
  const body = { username, password };
  api.clock.turn(0.001);
  const { status, json } = await arrive(api, "/api/token/", { method: "POST", peer, encrypted: true, body });
  assert.deepEqual([status, json.code], [401, "factor_required"]);
  return json.login.pending as string;
}

/** Returns which of these logins still wait. */
async function waiting(api: API, names: readonly string[]): Promise<readonly boolean[]> {
  const found = [];
  for (const pending of names) {
    const { json } = await api.post("/api/login/factors/", { pending, kind: "totp" });
    found.push(json.code !== "login_expired");
  }
  return found;
}

test("ends no waiting login of the owner if another network starts many", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const own = [await start(api, ann, "192.0.2.9"), (await startLogin(api, ann)).json.login.pending as string];

  const thief = [];
  for (let at = 0; at < 25; at++) thief.push(await start(api, ann, `203.0.113.${at}`));
  for (let at = 0; at < 12; at++) thief.push(await start(api, ann, `2001:db8:0:7::${at + 1}`));

  assert.deepEqual(await waiting(api, own), [true, true]);
  const left = await waiting(api, thief);
  // Ten of the /24 and ten of the /64 are left, and these are the newest ones.
  assert.deepEqual(left, [...Array(15).fill(false), ...Array(10).fill(true), false, false, ...Array(10).fill(true)]);
});

test("counts an address apart from which the account logged in before, also within the network of a thief", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const pending = await start(api, ann, "203.0.113.5");
  const body = { pending, factor: ann.factor, code: ann.code() };
  const done = await arrive(api, "/api/login/", { method: "POST", peer: "203.0.113.5", encrypted: true, body });
  assert.equal(done.status, 200);

  const own = await start(api, ann, "203.0.113.5");
  for (let at = 0; at < 15; at++) await start(api, ann, "203.0.113.6");

  assert.deepEqual(await waiting(api, [own]), [true]);
});

test("keeps 200 waiting logins of an account, and ends those of unknown networks first", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins().features } });
  const ann = await addTOTP(api, "Ann");
  // A login by a badge needs no hash.
  const startByBadge = async (peer: string) => {
    api.clock.turn(0.001);
    const headers = [["X-Badge-Login", ann.email]] as const;
    const { json } = await arrive(api, "/badge/tokens", { method: "POST", peer, encrypted: true, headers });
    return json.login.pending as string;
  };
  const known = (await startLogin(api, ann)).json.login.pending as string;

  const thief = [];
  for (let at = 0; at < 201; at++) thief.push(await startByBadge(`203.0.${at}.1`));

  assert.deepEqual(await waiting(api, [known, thief[0]!, thief[1]!, thief[2]!]), [true, false, false, true]);
});

test("counts the unconfirmed factors of an enrolment only for its waiting login, and deletes them with it", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "everyone" } });
  const admin = { email: "admin", password: "first-administrator" };
  const add = (pending: string) => api.post("/api/login/factors/", { pending, kind: "totp" });
  const own = await start(api, admin, "192.0.2.9");
  const thief = await start(api, admin, "203.0.113.5");

  for (let at = 0; at < 20; at++) assert.equal((await add(thief)).status, 201);
  const refused = await add(thief);
  assert.deepEqual([refused.status, refused.json.code], [409, "too_many"]);
  for (let at = 0; at < 10; at++) await start(api, admin, "203.0.113.5");
  const { id, secret } = (await add(own)).json;

  const { store } = api.service;
  const rows = await store.list({ collection: factorsCollection, where: null, sort: [], limit: 100 });
  assert.deepEqual(
    rows.map(({ record }) => String(record["id"])),
    [id],
  );
  const done = await api.post("/api/login/", { pending: own, factor: id, code: totpCode(secret, api.clock.now) });
  assert.equal(done.status, 200, done.text);
});

test("leaves the owner places for a factor while other waiting logins add as many as an account may have", async (t) => {
  const { features } = outsideLogins({ checksPerson: true });
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "everyone" }, config: { features } });
  const admin = { email: "admin", password: "first-administrator" };
  const thief = await start(api, admin, "203.0.113.5");
  const add = (pending: string) => api.post("/api/login/factors/", { pending, kind: "totp" });
  let theirs = { id: "", secret: "" };
  for (let at = 0; at < 20; at++) theirs = (await add(thief)).json;

  // A login that needs no factor: its badge has checked the person.
  const { access } = (await api.post("/badge/tokens", undefined, { "x-badge-login": admin.email })).json;
  const headers = { authorization: `Bearer ${access}` };
  const code = totpCode(theirs.secret, api.clock.now);
  assert.equal((await api.post(`/users/1/factors/${theirs.id}/confirm`, { code }, headers)).status, 404);
  assert.equal((await api.delete(`/users/1/factors/${theirs.id}`, headers)).status, 404);
  assert.deepEqual((await api.get("/users/1/factors", headers)).json, []);
  assert.equal((await api.post("/users/1/factors", { kind: "totp" }, headers)).status, 201);

  const own = await start(api, admin, "192.0.2.9");
  const made = await add(own);
  assert.equal(made.status, 201, made.text);
  const answer = { pending: own, factor: made.json.id, code: totpCode(made.json.secret, api.clock.now) };
  const done = await api.post("/api/login/", answer);
  assert.equal(done.status, 200, done.text);
});

test("starts at most twenty factors of an account in its logins, whether they are confirmed or not", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const add = () => api.post(`/users/${ann.id}/factors`, { kind: "totp" }, ann.headers);
  for (let at = 1; at < 20; at++) assert.equal((await add()).status, 201, String(at));

  const refused = await add();

  assert.deepEqual([refused.status, refused.json.code], [409, "too_many"], refused.text);
});
