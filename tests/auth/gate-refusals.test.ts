import assert from "node:assert/strict";
import { test } from "node:test";
import { accountsCollection, type Beginning, type FactorKind } from "../../src/door/auth.ts";
import { accounts, createService, defineFeature, Secret, type Feature } from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { totpCode } from "../../src/testing/testing.ts";
import { arrive } from "../harness/arrive.ts";
import { addTOTP, readCookies, startLogin } from "../harness/factors.ts";
import { outsideLogins } from "../harness/outside-logins.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";
import { emptyStore } from "../harness/test-store.ts";

// The gate (`src/features/auth/gate`) decides whether the proofs of a login are enough. These tests check its later
// refusals.

const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

test("completes no login with two proofs of one kind", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins().features } });
  const ann = await addTOTP(api, "Ann");

  for (const kind of ["session", "tokens"]) {
    const first = await api.post(`/badge/${kind}`, undefined, { "x-badge-login": ann.email });
    assert.equal(first.json.code, "factor_required");
    const cookie = kind === "session" ? readCookies(first) : {};
    const { pending } = first.json.login;
    // The badge and the code are both something that the user has.
    const refused = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() }, cookie);
    assert.deepEqual([refused.status, refused.json.code], [401, "factor_required"], refused.text);
    assert.match(refused.json.detail, /another kind of proof/);
    assert.ok(refused.headers.has("www-authenticate"));
    assert.doesNotMatch(refused.headers.getSetCookie().join(), /session=[^;]/);
    api.clock.turn(30);
  }
  const { pending } = (await startLogin(api, ann)).json.login;
  assert.equal((await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() })).status, 200);
});

test("issues no new tokens to a user who adds a first factor of the same kind as the proof of the login", async (t) => {
  const api = await serve(t, { config: { features: outsideLogins().features } });
  const ann = await api.user("Ann");
  const { access } = (await api.post("/badge/tokens", undefined, { "x-badge-login": ann.email })).json;
  const made = (await api.post(`/users/${ann.id}/factors`, { kind: "totp" }, bearer(access))).json;
  const code = totpCode(made.secret, api.clock.now);

  const confirmed = await api.post(`/users/${ann.id}/factors/${made.id}/confirm`, { code }, bearer(access));

  assert.equal(confirmed.status, 200, confirmed.text);
  assert.equal("access" in confirmed.json, false);
  assert.equal((await api.get("/protected/", bearer(access))).status, 401);
});

/** Starts a confirmation of this login. Returns the `pending` value and the cookie of the waiting login. */
async function startConfirmation(api: API, headers: Readonly<Record<string, string>>) {
  const started = await api.post("/api/login/confirm/", undefined, headers);
  assert.equal(started.status, 200, started.text);
  const cookie = readCookies(started)["cookie"]!;
  return { pending: started.json.login?.pending ?? started.json.pending, cookie };
}

test("confirms no login that was revoked during its confirmation", async (t) => {
  const api = await serve(t);
  const { id, email: username, password } = await api.user("Ann");
  const login = { username, password };

  const session = readCookies(await api.post("/api/session/", login));
  const { cookie } = await startConfirmation(api, session);
  assert.equal((await api.delete("/api/session/", session)).status, 204);
  const bySession = await api.post("/api/login/", { factor: "password", password }, { cookie });
  assert.deepEqual([bySession.status, bySession.json.code], [401, "login_expired"], bySession.text);
  assert.doesNotMatch(bySession.headers.getSetCookie().join(), /session=[^;]/);

  const pair = (await api.post("/api/token/", login)).json;
  const { pending } = await startConfirmation(api, bearer(pair.access));
  assert.equal((await api.ask("DELETE", "/api/token/", { body: { refresh: pair.refresh } })).status, 204);
  const byToken = await api.post("/api/login/", { pending, factor: "password", password });
  assert.deepEqual([byToken.status, byToken.json.code], [401, "login_expired"], byToken.text);

  const other = readCookies(await api.post("/api/session/", login));
  const ended = await startConfirmation(api, other);
  assert.equal((await api.delete(`/users/${id}/sessions`, api.admin)).status, 204);
  const after = await api.post("/api/login/", { factor: "password", password }, { cookie: ended.cookie });
  assert.equal(after.json.code, "login_expired");
});

test("ends a waiting login when its account is deactivated", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const { pending } = (await startLogin(api, ann)).json.login;
  assert.equal((await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin)).status, 200);
  const refused = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() });
  assert.deepEqual([refused.status, refused.json.code], [401, "login_expired"]);
});

test("names the missing or invalid field of a request that completes a login", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const { pending } = (await startLogin(api, ann)).json.login;
  const complete = (body: object) => api.post("/api/login/", { pending, ...body });

  for (const [body, pointer] of [
    [{ factor: ann.factor }, "/code"],
    [{ factor: "999", code: "000000" }, "/factor"],
    [{ factor: "password", password: ann.password }, "/factor"],
    [{ code: "000000" }, "/factor"],
  ] as const) {
    const { status, json } = await complete(body);
    assert.deepEqual([status, json.errors[0].pointer], [400, pointer], JSON.stringify(body));
  }
  const { email: username, password } = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const confirmation = await startConfirmation(api, bearer(access));
  const lacking = await api.post("/api/login/", { pending: confirmation.pending, factor: "password" });
  assert.deepEqual([lacking.status, lacking.json.errors[0].pointer], [400, "/password"]);
  const others = await api.post("/api/login/", {
    pending: confirmation.pending,
    factor: "password",
    password: ann.password,
  });
  assert.deepEqual([others.status, others.json.code], [401, "invalid_credentials"]);
});

test("lets a waiting login add a factor only if its account must have one and has none", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const { pending } = (await startLogin(api, ann)).json.login;
  const add = (name: string) => api.post("/api/login/factors/", { pending: name, kind: "totp" });
  assert.deepEqual([(await add(pending)).status, (await add("A".repeat(43))).json.code], [403, "login_expired"]);

  const { email: username, password } = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  assert.equal((await add((await startConfirmation(api, bearer(access))).pending)).status, 403);
});

test("hides the factors of a user from other users, and answers 409 for a factor in the wrong state", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const path = `/users/${ann.id}/factors`;
  const again = await api.post(`${path}/${ann.factor}/confirm`, { code: ann.code() }, ann.headers);
  assert.deepEqual([again.status, again.json.code], [409, "conflict"]);
  const made = (await api.post(path, { kind: "totp" }, ann.headers)).json;
  const lacking = await api.post(`${path}/${made.id}/confirm`, {}, ann.headers);
  const { pointer, code } = lacking.json.errors[0];
  assert.deepEqual([lacking.status, pointer, code], [400, "/code", "required"]);
  assert.equal((await api.post(path, { kind: "sms" }, ann.headers)).json.errors[0].pointer, "/kind");

  const bob = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username: bob.email, password: bob.password })).json;
  const bobs = `/users/${bob.id}/factors`;
  const none = await api.post(`${bobs}/recovery`, undefined, bearer(access));
  assert.deepEqual([none.status, none.json.code], [409, "conflict"]);
  for (const [method, target] of [
    ["POST", path],
    ["GET", path],
    ["POST", `${path}/recovery`],
    ["DELETE", `${path}/${ann.factor}`],
    ["POST", `${path}/${made.id}/confirm`],
  ] as const) {
    const body = method === "GET" ? {} : { body: { kind: "totp", code: "1" } };
    assert.equal((await api.ask(method, target, { ...body, headers: bearer(access) })).status, 403, target);
  }
  // Bob's path has no factor of Ann.
  assert.equal((await api.delete(`${bobs}/${ann.factor}`, bearer(access))).status, 404);
  assert.equal((await api.delete(`${path}/${made.id}`, ann.headers)).status, 204);
});

test("hides a factor from the user's other logins while a waiting login adds it", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "admins" } });
  const login = { username: "admin", password: "first-administrator" };
  const begin = async () => (await api.post("/api/token/", login)).json.login.pending as string;
  const [one, other] = [await begin(), await begin()];
  const made = (await api.post("/api/login/factors/", { pending: one, kind: "totp" })).json;
  const code = () => totpCode(made.secret, api.clock.now);

  const stolen = await api.post("/api/login/", { pending: other, factor: made.id, code: code() });
  assert.deepEqual([stolen.status, stolen.json.errors[0].pointer], [400, "/factor"]);
  const rows = await api.service.store.find(accountsCollection, 1);
  assert.equal(rows!.record["factors"], 0);
  assert.equal((await api.post("/api/login/", { pending: one, factor: made.id, code: code() })).status, 200);
});

test("refuses two kinds of logins or of factors with one name", async () => {
  const people = accounts();
  const kind: FactorKind = {
    name: "badge",
    method: "hwk",
    answeredBy: "code",
    enrol: () => ({ data: null, shown: {} }),
    confirm: () => null,
    check: () => null,
  };
  const twice = (register: (host: ReturnType<typeof offered>) => void): Feature =>
    defineFeature({
      name: "twice",
      needs: [people],
      setUp(host) {
        register(host.use(people));
        register(host.use(people));
        return { offer: null };
      },
    });
  const offered = (service: Awaited<ReturnType<typeof createService>>) => service.use(people);
  const begin: Beginning = { name: "own", carriedIn: () => "text", start: () => Promise.reject(new Error("never")) };
  for (const [feature, reason] of [
    [twice(({ factors }) => factors.registerFactorKind(kind)), /two kinds of factors are called badge; rename one/],
    [twice(({ logins }) => logins.registerLogin(begin)), /two kinds of logins are called own; rename one/],
  ] as const) {
    const secret = new Secret("a secret of the service, long enough");
    const started = createService({ store: await emptyStore(), secret, features: [people, feature] });
    await assert.rejects(started, (error) => error instanceof DeclarationError && reason.test(error.message));
  }
});

test("lets an administrator delete a user's factor only with a fresh login or with the administrator's password", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const admin = readCookies(await api.post("/api/session/", { username: "admin", password: adminPassword }));
  const remove = (body?: object) =>
    api.ask("DELETE", `/users/${ann.id}/factors/${ann.factor}`, { body, headers: admin });
  api.clock.turn(601);

  const stale = await remove();
  assert.deepEqual([stale.status, stale.json.errors[0].pointer], [400, "/current_password"]);
  const wrong = await remove({ current_password: ann.password });
  assert.deepEqual([wrong.status, wrong.json.errors[0].code], [400, "invalid"]);
  assert.equal((await api.get(`/users/${ann.id}/factors`, api.admin)).json.length, 2);
  assert.equal((await remove({ current_password: adminPassword })).status, 204);
});

test("adds and deletes no factor with a key", async (t) => {
  const api = await serve(t);
  const { id, email: username, password } = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const { key } = (await api.post(`/users/${id}/keys`, { name: "laptop" }, bearer(access))).json;
  const byKey = { authorization: `Token ${key}` };
  const proof = { current_password: password };
  const made = (await api.post(`/users/${id}/factors`, { kind: "totp" }, bearer(access))).json;

  for (const refused of [
    await api.post(`/users/${id}/factors`, { kind: "totp", ...proof }, byKey),
    await api.post(`/users/${id}/factors/${made.id}/confirm`, { code: totpCode(made.secret, api.clock.now) }, byKey),
    await api.post(`/users/${id}/factors/recovery`, proof, byKey),
    await api.ask("DELETE", `/users/${id}/factors/${made.id}`, { body: proof, headers: byKey }),
  ])
    assert.deepEqual([refused.status, refused.json.code], [403, "permission_denied"], refused.text);
});

/** The requests to the gate. `known` is true if the caller is logged in. */
const gateCalls = [
  { path: "/api/login/", body: { pending: "A".repeat(43), factor: "1", code: "000000" }, known: false },
  { path: "/api/login/factors/", body: { pending: "A".repeat(43), kind: "totp" }, known: false },
  { path: "/api/login/passkey/", body: undefined, known: false },
  { path: "/api/login/confirm/", body: undefined, known: true },
  { path: "/users/ID/factors", body: { kind: "totp" }, known: true },
  { path: "/users/ID/factors/recovery", body: undefined, known: true },
] as const;

test("refuses an Idempotency-Key, requests of other sites and cleartext at every endpoint of the gate", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  for (const { path, body, known: isIdentified } of gateCalls) {
    const target = path.replace("ID", String(ann.id));
    const headers: Readonly<Record<string, string>> = isIdentified ? ann.headers : {};

    const repeated = await api.post(target, body, { ...headers, "idempotency-key": "once" });
    assert.equal(repeated.status, 400, `${path} ${repeated.text}`);

    const foreign = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    const crossSite = await api.post(target, body, { ...headers, ...foreign });
    assert.deepEqual([crossSite.status, crossSite.json.code], [403, "cross_site"], path);

    const overCleartext = await arrive(api, target, {
      method: "POST",
      peer: "203.0.113.7",
      headers: Object.entries(headers),
      body: body ?? {},
    });
    assert.deepEqual([overCleartext.status, overCleartext.json.code], [403, "insecure_transport"], path);

    const answer = await api.post(target, body, headers);
    assert.equal(answer.headers.get("cache-control"), "no-store", path);
  }
});

test("ignores other credentials of a request that completes a login", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const wrong = { authorization: "Bearer nonsense" };
  const { pending } = (await startLogin(api, ann)).json.login;
  assert.equal((await api.post("/api/login/passkey/", undefined, wrong)).status, 200);
  const done = await api.post("/api/login/", { pending, factor: ann.factor, code: ann.code() }, wrong);
  assert.equal(done.status, 200, done.text);
});
