import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection } from "../../src/door/auth.ts";
import { computeCode, computeStep } from "../../src/features/auth/totp/codes.ts";
import type { WrittenValues } from "../../src/store/store.ts";
import { makeAuthenticator } from "../harness/authenticator.ts";
import { addTOTP, parseBase32, type TOTPUser } from "../harness/factors.ts";
import { serve, type Answered, type API } from "../harness/serve.ts";

// No user and no service lock themselves out. Each refusal names the remedy, and another administrator can help.

const bearer = (access: string) => ({ authorization: `Bearer ${access}` });
const origin = "https://example.com";
const settings = { LATCHKEY_PUBLIC_URL: origin };

/** Changes columns of an account in the store, also columns that the API cannot change. */
async function write(api: API, id: number, values: WrittenValues): Promise<void> {
  const where = { column: "id", operator: "eq", value: id } as const;
  const change = { kind: "updateAll", collection: accountsCollection, where, values } as const;
  assert.equal((await api.service.store.write({ changes: [change] })).kind, "written");
}

/** Makes another administrator. */
async function makeAdmin(api: API, name: string) {
  const made = await api.user(name);
  const promoted = await api.patch(`/users/${made.id}/account`, { role: "admin" }, api.admin);
  assert.equal(promoted.status, 200, promoted.text);
  return made;
}

/** The ways to lose the first administrator. */
const losses: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["DELETE", "/users/1"],
  ["PATCH", "/users/1/account", { role: "user" }],
  ["PATCH", "/users/1/account", { active: false }],
];

async function expectKept(api: API): Promise<void> {
  for (const [method, path, body] of losses) {
    const { status, json } = await api.ask(method, path, { body, headers: api.admin });
    assert.deepEqual([status, json.code], [409, "last_admin"], `${method} ${path}`);
    assert.match(json.detail, /Make another user an administrator first/);
  }
}

/** States in which a second administrator cannot log in, so that the first one is the last who can. */
const lockedOut: Readonly<Record<string, (api: API, id: number) => Promise<unknown>>> = {
  "no password": (api, id) => write(api, id, { password_hash: null }),
  "an imported password of an unknown format": (api, id) => write(api, id, { password_hash: "!" }),
  "a generated password that has expired": (api, id) =>
    write(api, id, { password_until: new Date(api.clock.now).toISOString() }),
  "a one-time password that was used": (api, id) => write(api, id, { password_once: "used" }),
  "an account that is not active": (api, id) => write(api, id, { active: false }),
  "only keys": async (api, id) => {
    assert.equal((await api.post(`/users/${id}/keys`, { name: "k" }, api.admin)).status, 403);
    await write(api, id, { password_hash: null });
  },
};

for (const [name, lock] of Object.entries(lockedOut))
  test(`keeps the last administrator if the only other administrator has ${name}`, async (t) => {
    const api = await serve(t);
    await lock(api, (await makeAdmin(api, "Bob")).id);
    await expectKept(api);
  });

/** Logs in and adds a passkey with user verification. */
async function addPasskey(api: API, { id, email: username, password }: Pick<TOTPUser, "id" | "email" | "password">) {
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const made = (await api.post(`/users/${id}/factors`, { kind: "passkey" }, bearer(access))).json;
  const authenticator = makeAuthenticator(origin);
  const credential = authenticator.register(made.options);
  const confirmed = await api.post(`/users/${id}/factors/${made.id}/confirm`, { credential }, bearer(access));
  assert.equal(confirmed.status, 200, confirmed.text);
  return { factor: made.id as string, headers: bearer(confirmed.json.access), authenticator };
}

/** States in which a second administrator can log in. */
const able: Readonly<
  Record<string, (api: API, bob: { id: number; email: string; password: string }) => Promise<unknown>>
> = {
  "a password": () => Promise.resolve(),
  "a generated password that is still valid": (api, { id }) =>
    write(api, id, { password_until: new Date(api.clock.now + 1000).toISOString() }),
  "a one-time password for one login": (api, { id }) => write(api, id, { password_once: "unused" }),
  "a passkey and no password": async (api, bob) => {
    await addPasskey(api, bob);
    await write(api, bob.id, { password_hash: null });
  },
};

for (const [name, prepare] of Object.entries(able))
  test(`removes an administrator if another administrator has ${name}`, async (t) => {
    for (const [method, path, body] of losses) {
      const api = await serve(t, { settings });
      await prepare(api, await makeAdmin(api, "Bob"));
      const answer = await api.ask(method, path, { body, headers: api.admin });
      assert.ok(answer.status < 300, `${method} ${path} ${answer.text}`);
    }
  });

test("demotes an administrator who cannot log in", async (t) => {
  const api = await serve(t);
  const bob = await makeAdmin(api, "Bob");
  await write(api, bob.id, { password_hash: null });
  assert.equal((await api.patch(`/users/${bob.id}/account`, { role: "user" }, api.admin)).status, 200);
});

test("keeps one administrator who can log in if all of them are demoted at the same time", async (t) => {
  for (let round = 0; round < 5; round++) {
    const api = await serve(t);
    const ids = [1, (await makeAdmin(api, "Ann")).id, (await makeAdmin(api, "Bob")).id];
    await write(api, (await makeAdmin(api, "Eve")).id, { password_hash: null });

    const answers = await Promise.all(ids.map((id) => api.patch(`/users/${id}/account`, { role: "user" }, api.admin)));

    const statuses = answers.map(({ status }) => status);
    assert.ok(
      statuses.every((status) => [200, 401, 403, 409].includes(status)),
      statuses.join(),
    );
    const left: unknown[] = [];
    for (const id of ids) {
      const row = await api.service.store.find(accountsCollection, id);
      if (row!.record["role"] === "admin") left.push(id);
    }
    assert.ok(left.length > 0, statuses.join());
  }
});

async function enrolAdmin(t: TestContext) {
  const api = await serve(t, { settings: { LATCHKEY_SECOND_FACTOR: "admins" } });
  const login = { username: "admin", password: "first-administrator" };
  const { pending } = (await api.post("/api/token/", login)).json.login;
  const made = (await api.post("/api/login/factors/", { pending, kind: "totp" })).json;
  const secret = parseBase32(made.secret);
  const code = () => computeCode(secret, computeStep(api.clock.now));
  const done = await api.post("/api/login/", { pending, factor: made.id, code: code() });
  assert.equal(done.status, 200, done.text);
  return { api, login, factor: made.id as string, headers: bearer(done.json.access), code };
}

test("refuses to delete the last factor of a user who must have one, and names the remedies", async (t) => {
  const { api, factor, headers, login } = await enrolAdmin(t);

  const refused = await api.delete(`/users/1/factors/${factor}`, headers);
  assert.deepEqual([refused.status, refused.json.code], [409, "last_factor"]);
  assert.match(refused.json.detail, /Add another one first.*another administrator or the operator can delete it/);

  // Another administrator deletes the factor.
  const made = await api.post(
    "/users",
    { name: "Bob", email: "bob@example.com", password: "password of Bob" },
    headers,
  );
  await write(api, made.json.id, { role: "admin" });
  const bob = (await api.post("/api/token/", { username: "bob@example.com", password: "password of Bob" })).json;
  const enrolled = (await api.post("/api/login/factors/", { pending: bob.login.pending, kind: "totp" })).json;
  const code = computeCode(parseBase32(enrolled.secret), computeStep(api.clock.now));
  const other = await api.post("/api/login/", { pending: bob.login.pending, factor: enrolled.id, code });
  assert.equal((await api.delete(`/users/1/factors/${factor}`, bearer(other.json.access))).status, 204);
  assert.equal((await api.get("/protected/", headers)).status, 401);
  assert.equal((await api.post("/api/token/", login)).json.login.needs, "enrolment");
});

test("keeps one of two factors that are deleted at the same time, if the user must have one", async (t) => {
  const { api, factor, headers } = await enrolAdmin(t);
  const made = (await api.post("/users/1/factors", { kind: "totp" }, headers)).json;
  const code = computeCode(parseBase32(made.secret), computeStep(api.clock.now));
  assert.equal((await api.post(`/users/1/factors/${made.id}/confirm`, { code }, headers)).status, 200);

  const answers = await Promise.all([factor, made.id].map((id) => api.delete(`/users/1/factors/${id}`, headers)));

  const statuses = answers.map(({ status }) => status).toSorted((one, two) => one - two);
  assert.deepEqual(statuses, [204, 409]);
  const left = (await api.get("/users/1/factors", headers)).json;
  assert.equal(left.filter(({ kind }: { kind: string }) => kind === "totp").length, 1);
});

test("refuses to delete the last way to log in, and names the remedies", async (t) => {
  const api = await serve(t, { settings });
  const ann = await api.user("Ann");
  const { factor, headers } = await addPasskey(api, ann);
  await write(api, ann.id, { password_hash: null });
  const remove = (): Promise<Answered> => api.delete(`/users/${ann.id}/factors/${factor}`, headers);

  const refused = await remove();
  assert.deepEqual([refused.status, refused.json.code], [409, "last_login"]);
  assert.match(refused.json.detail, /Set a password, or add another passkey or identity first/);

  // An administrator deletes the passkey, and creates a password for one login.
  assert.equal((await api.delete(`/users/${ann.id}/factors/${factor}`, api.admin)).status, 204);
  const once = await api.post(`/users/${ann.id}/password`, undefined, api.admin);
  assert.ok(once.status < 300, once.text);
  const login = await api.post("/api/token/", { username: ann.email, password: once.json.password });
  assert.equal(login.status, 200, login.text);
});

test("lets a user with a recovery code log in and add a factor, but delete none", async (t) => {
  const api = await serve(t);
  const ann = await addTOTP(api, "Ann");
  const [code] = ann.recoveryCodes;
  const { pending } = (await api.post("/api/token/", { username: ann.email, password: ann.password })).json.login;
  const headers = bearer((await api.post("/api/login/", { pending, factor: "recovery", code })).json.access);

  assert.equal((await api.post(`/users/${ann.id}/factors`, { kind: "totp" }, headers)).status, 201);
  for (const refused of [
    await api.delete(`/users/${ann.id}/factors/${ann.factor}`, headers),
    await api.post(`/users/${ann.id}/factors/recovery`, undefined, headers),
  ])
    assert.deepEqual([refused.status, refused.json.code], [401, "confirmation_required"]);
});

test("refuses an administrator who deletes the own last factor by another spelling of the path, or with an API token", async (t) => {
  const { api, factor, headers, login, code } = await enrolAdmin(t);
  // Spells the ids in other ways, and then uses the API token of the same user.
  for (const path of [`/users/01/factors/${factor}`, `/users/1/factors/0${factor}`, `/users/+1/factors/${factor}`])
    assert.ok((await api.delete(path, headers)).status >= 400, path);
  const { token } = (await api.post("/users/1/token", undefined, headers)).json;
  const byToken = await api.delete(`/users/1/factors/${factor}`, { authorization: `Token ${token}` });
  assert.deepEqual([byToken.status, byToken.json.code], [401, "confirmation_required"]);

  api.clock.turn(30);
  const { pending } = (await api.post("/api/token/", login)).json.login;
  assert.equal((await api.post("/api/login/", { pending, factor, code: code() })).status, 200);
});
