import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { accountsCollection, bindingsCollection } from "../../src/door/auth.ts";
import { arrive } from "../harness/arrive.ts";
import { serve, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const proxy = "10.0.0.1";
const withRemoteUser = { LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user", LATCHKEY_TRUSTED_PROXIES: proxy };
const making = { ...withRemoteUser, LATCHKEY_REMOTE_USER_CREATE: "true" };

/**
 * Sends a request through the proxy, which names this user. Returns the id of the accepted user, or the code of the
 * problem.
 */
async function remote(api: API, username: string, email?: string) {
  const name = Buffer.from(username).toString("latin1");
  const address = email === undefined ? [] : [["X-Remote-Email", email] as const];
  const { status, json } = await arrive(api, "/protected/", {
    peer: proxy,
    headers: [["X-Forwarded-Proto", "https"], ["X-Remote-User", name], ...address],
  });
  return status === 200 ? json.user.id : json.code;
}

/** Returns settings of services that share a database, one after another or at the same time. */
async function shared(t: TestContext) {
  const { url } = await sharedDatabase(t);
  return { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret that both of the services know" };
}

test("prevents a user from taking the username that the proxy sends for a colleague", async (t) => {
  const api = await serve(t, { settings: making, config: { registration: "open" } });
  const eve = await api.user("Eve");
  const proof = { current_password: eve.password };
  const account = `/users/${eve.id}/account`;

  for (const attempt of [
    await api.patch(account, { username: "bob", ...proof }, eve.headers),
    await api.patch(`/users/${eve.id}`, { username: "bob", ...proof }, eve.headers),
    await api.put(`/users/${eve.id}`, { name: "Eve", email: eve.email, username: "bob", ...proof }, eve.headers),
    await api.post("/users", { name: "Bob", email: "b@example.com", username: "bob" }),
  ])
    assert.deepEqual([attempt.status, attempt.json.code], [403, "permission_denied"]);
  const moved = await api.patch(`/users/${eve.id}`, { email: "bob@example.com", ...proof }, eve.headers);

  assert.equal(moved.status, 200);
  assert.equal((await api.get(account, api.admin)).json.username, eve.email);
  assert.notEqual(await remote(api, "bob@example.com", "other@example.com"), eve.id);
  assert.equal(await remote(api, "bob", "bob@example.com"), "identity_not_bound");
  assert.equal(await remote(api, eve.email), eve.id);
});

test("never binds an identity of the proxy to an account by a name that the account's user chose", async (t) => {
  const file = await shared(t);
  const before = await serve(t, { settings: file, config: { registration: "open" } });
  const [ann, eve] = [await before.user("Ann"), await before.user("Eve")];
  const rename = { username: "bob", current_password: ann.password };
  assert.equal((await before.patch(`/users/${ann.id}/account`, rename, ann.headers)).status, 200);
  const move = { email: "Carl@example.com", current_password: eve.password };
  assert.equal((await before.patch(`/users/${eve.id}`, move, eve.headers)).status, 200);
  await before.post("/users", { name: "Dora", email: "dora@example.com", password: "password of Dora" });

  const api = await serve(t, { settings: { ...file, ...making } });

  for (const name of ["bob", "Carl@example.com", "dora@example.com", "BOB", "carl@example.com"])
    assert.equal(await remote(api, name, "new@example.com"), "identity_not_bound", name);
  const observations = api.observed.filter(({ kind }) => kind === "identity_not_bound");
  assert.deepEqual(observations[0], {
    kind: "identity_not_bound",
    issuer: "",
    subject: "bob",
    username: "bob",
    userId: ann.id,
  });
  assert.equal(
    await remote(api, "b\u043eb", "new@example.com"),
    5,
    "a username that only looks the same belongs to a new user",
  );
});

test("keeps an identity bound to its account after a rename, until the account is deleted", async (t) => {
  const api = await serve(t, { settings: making });
  const ann = await api.user("Ann");
  assert.equal(await remote(api, ann.email), ann.id);

  await api.patch(`/users/${ann.id}/account`, { username: "anna" }, api.admin);
  assert.equal(await remote(api, ann.email), ann.id);
  assert.equal(await remote(api, "anna", "anna@example.com"), "identity_not_bound");
  await api.patch(`/users/${ann.id}/account`, { active: false }, api.admin);
  assert.equal(await remote(api, ann.email), "invalid_token");
  await api.delete(`/users/${ann.id}`, api.admin);
  assert.equal(await remote(api, ann.email, ann.email), ann.id + 1);
});

test("binds an identity once, and accepts all its first logins that run at the same time in two processes", async (t) => {
  const file = await shared(t);
  const [one, other] = [
    await serve(t, { settings: { ...file, ...making } }),
    await serve(t, { settings: { ...file, ...making } }),
  ];
  const ann = await one.user("Ann");
  const at = (index: number) => (index % 2 === 0 ? one : other);

  const existing = await Promise.all(Array.from({ length: 12 }, (_, index) => remote(at(index), ann.email)));
  const made = await Promise.all(Array.from({ length: 12 }, (_, index) => remote(at(index), "zoe", "zoe@example.com")));
  const rivals = await Promise.all(
    Array.from({ length: 12 }, (_, index) => remote(at(index), index < 6 ? "kim" : "KIM", "kim@example.com")),
  );

  assert.deepEqual(new Set(existing), new Set([ann.id]));
  assert.equal(new Set(made).size, 1);
  assert.deepEqual(new Set(rivals.map((each) => typeof each)), new Set(["number", "string"]));
  assert.equal(new Set(rivals).size, 2);
  assert.equal(await one.service.store.count(bindingsCollection, null), 3);
});

test("binds an account without a stored `username_origin` by its name only if it has no password", async (t) => {
  const api = await serve(t, { settings: withRemoteUser });
  const ann = await api.user("Ann");
  const bob = await api.post("/users", { name: "Bob", email: "bob@example.com" }, api.admin);
  for (const key of [ann.id, bob.json.id])
    await api.service.store.write({
      changes: [{ kind: "update", collection: accountsCollection, key, values: { username_origin: null } }],
    });

  assert.equal(await remote(api, ann.email), "identity_not_bound");
  assert.equal(await remote(api, "bob@example.com"), bob.json.id);
});

test("derives a valid e-mail address of the first administrator from the username", async (t) => {
  const [named, addressed] = [
    await serve(t),
    await serve(t, { settings: { LATCHKEY_ADMIN_USERNAME: "root@example.com" } }),
  ];

  assert.equal((await named.get("/users/1", named.admin)).json.email, "admin@example.invalid");
  const login = { username: "root@example.com", password: "first-administrator" };
  const { access } = (await addressed.post("/api/token/", login)).json;
  const headers = { authorization: `Bearer ${access}` };
  assert.equal((await addressed.get("/users/1", headers)).json.email, "root@example.com");
});

test("requires the current password to change an e-mail address, except from administrators who change another user's", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const path = `/users/${ann.id}`;

  for (const proof of [{}, { current_password: "wrong password" }]) {
    const refused = await api.patch(path, { email: "new@example.com", ...proof }, ann.headers);
    assert.deepEqual([refused.status, refused.json.errors[0].pointer], [400, "/current_password"]);
  }
  assert.equal((await api.patch("/users/1", { email: "new@example.com" }, api.admin)).status, 400);
  assert.equal((await api.patch(path, { email: "ann2@example.com" }, api.admin)).status, 200);
  const own = { email: "ann3@example.com", current_password: ann.password };
  assert.equal((await api.patch(path, own, api.admin)).status, 200);
  assert.equal((await api.patch(path, { name: "Anna", email: "ann3@example.com" }, api.admin)).status, 200);
});
