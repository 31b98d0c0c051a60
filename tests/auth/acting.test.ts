import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeJwt } from "jose";
import { defineFeature } from "../../src/door/index.ts";
import type { Cause } from "../../src/store/store.ts";
import { addTOTP, readCookies } from "../harness/factors.ts";
import { adminPassword, serve, type API, type ServeOptions } from "../harness/serve.ts";

type Headers = Readonly<Record<string, string>>;

interface World {
  readonly api: API;
  readonly ann: { readonly id: number; readonly email: string; readonly password: string };
  /** The headers of the administrator's own login. */
  readonly admin: Headers;
  /** The headers of the administrator who acts for Ann. */
  readonly acting: Headers;
}

const bearer = (access: string): Headers => ({ authorization: `Bearer ${access}` });

async function logIn(api: API, username: string, password: string): Promise<Headers> {
  return bearer((await api.post("/api/token/", { username, password })).json.access);
}

/** Starts a service in which the administrator acts for Ann. */
async function start(t: Parameters<typeof serve>[0], options?: ServeOptions): Promise<World> {
  const api = await serve(t, options);
  const ann = await api.user("Ann");
  const admin = await logIn(api, "admin", adminPassword);
  const made = await api.post(`/users/${ann.id}/act`, undefined, admin);
  assert.equal(made.status, 201, made.text);
  return { api, ann, admin, acting: bearer(made.json.access) };
}

test("lets an administrator act for a user with a token of 15 minutes", async (t) => {
  const { api, ann, admin } = await start(t);
  const made = await api.post(`/users/${ann.id}/act`, undefined, admin);
  assert.deepEqual(Object.keys(made.json), ["access", "token_type", "expires_in"]);
  assert.deepEqual([made.json.token_type, made.json.expires_in], ["Bearer", 900]);
  const { act, sub, iat, exp, amr, auth_time: authTime } = decodeJwt(made.json.access);
  assert.deepEqual([act, sub, exp! - iat!, amr, authTime], [{ sub: "1" }, String(ann.id), 900, undefined, undefined]);

  const acting = bearer(made.json.access);
  const hello = (await api.get("/protected/", acting)).json;
  assert.deepEqual([hello.user.id, hello.username, hello.acting], [ann.id, ann.email, { id: 1, username: "admin" }]);
  assert.equal((await api.get("/protected/", admin)).json.acting, undefined);
  api.clock.turn(899);
  assert.equal((await api.get("/protected/", acting)).status, 200);
  api.clock.turn(1);
  assert.equal((await api.get("/protected/", acting)).status, 401);
});

test("grants an acting administrator the access of the user, and not the access of an administrator", async (t) => {
  const { api, ann, acting } = await start(t);
  const order = await api.post("/orders", {}, acting);
  const own = await logIn(api, ann.email, ann.password);

  assert.equal(order.status, 201, order.text);
  assert.equal((await api.get(`/orders/${order.json.id}`, own)).status, 200);
  assert.equal((await api.get(`/users/${ann.id}`, acting)).status, 200);
  assert.equal((await api.get("/users/1", acting)).status, 403);
  assert.equal((await api.patch(`/users/${ann.id}`, { name: "Ann B." }, acting)).status, 200);
});

test("refuses an acting administrator access to credentials and accounts", async (t) => {
  const { api, ann, acting } = await start(t);
  const at = `/users/${ann.id}`;
  for (const [method, path, body] of [
    ["GET", `${at}/account`],
    ["PATCH", `${at}/account`, { username: "other" }],
    ["GET", `${at}/sessions`],
    ["DELETE", `${at}/sessions`],
    ["DELETE", `${at}/sessions/other`],
    ["GET", `${at}/factors`],
    ["POST", `${at}/factors`, { kind: "totp" }],
    ["POST", `${at}/factors/recovery`],
    ["POST", `${at}/factors/1/confirm`, { code: "000000" }],
    ["DELETE", `${at}/factors/1`],
    ["GET", `${at}/keys`],
    ["POST", `${at}/keys`, { name: "key" }],
    ["GET", `${at}/keys/one`],
    ["DELETE", `${at}/keys/one`],
    ["GET", `${at}/token`],
    ["POST", `${at}/token`],
    ["DELETE", `${at}/token`],
    ["POST", `${at}/password`],
    ["PATCH", at, { password: "another long password" }],
    ["PATCH", at, { password: "another long password", current_password: ann.password }],
    ["PATCH", at, { email: "other@example.com" }],
    ["PATCH", at, { username: "other", current_password: ann.password }],
    ["DELETE", at],
    ["POST", "/api/login/confirm/"],
    ["POST", "/users/1/act"],
    ["POST", `${at}/act`],
  ] as const) {
    const refused = await api.ask(method, path, { headers: acting, body });
    assert.deepEqual([refused.status, refused.json.code], [403, "permission_denied"], `${method} ${path}`);
  }
  assert.equal((await api.get(at, acting)).json.email, ann.email);
});

test("refuses an acting administrator a change of the user's e-mail address, also if mail is configured", async (t) => {
  const settings = { LATCHKEY_MAIL_URL: "file:.", LATCHKEY_MAIL_FROM: "shop@example.com" };
  const { api, ann, acting } = await start(t, { settings });
  const emailChange = { email: "other@example.com", current_password: ann.password };

  assert.equal((await api.post(`/users/${ann.id}/email`, emailChange, acting)).status, 403);
  assert.equal((await api.patch(`/users/${ann.id}`, { email: "other@example.com" }, acting)).status, 403);
});

test("issues acting tokens only to administrators with a fresh login, and only for active users who are not administrators", async (t) => {
  const { api, ann, admin } = await start(t);
  const bea = await api.user("Bea");
  const other = await api.user("Cleo");
  await api.patch(`/users/${other.id}/account`, { role: "admin" }, admin);

  assert.equal(
    (await api.post(`/users/${bea.id}/act`, undefined, await logIn(api, ann.email, ann.password))).status,
    403,
  );
  assert.equal((await api.post(`/users/${other.id}/act`, undefined, admin)).status, 403);
  assert.equal((await api.post("/users/1/act", undefined, admin)).status, 403);
  assert.equal((await api.post(`/users/${ann.id}/act`)).status, 401);
  assert.equal((await api.post("/users/99/act", undefined, admin)).status, 404);
  const { key } = (await api.post("/users/1/keys", { name: "key" }, admin)).json;
  const program = { authorization: `Token ${key}` };
  assert.equal((await api.post(`/users/${ann.id}/act`, undefined, program)).status, 403);
  assert.equal((await api.post(`/users/${ann.id}/act`, { wrong: 1 }, program)).status, 403, "before its body is read");
  await api.patch(`/users/${bea.id}/account`, { active: false }, admin);
  assert.equal((await api.post(`/users/${bea.id}/act`, undefined, admin)).status, 409);
  const session = readCookies(await api.post("/api/session/", { username: "admin", password: adminPassword }));
  api.clock.turn(601);
  const stale = await api.post(`/users/${ann.id}/act`, undefined, session);
  assert.deepEqual([stale.status, stale.json.errors[0].pointer], [400, "/current_password"]);
  const proved = await api.post(`/users/${ann.id}/act`, { current_password: adminPassword }, session);
  assert.equal(proved.status, 201, proved.text);
});

test("lets an administrator act for users with a second factor, and accepts no password instead of the administrator's own factor", async (t) => {
  const { api, admin } = await start(t);
  const ann = await addTOTP(api, "Anna");
  const root = await addTOTP(api, "Root");
  await api.patch(`/users/${root.id}/account`, { role: "admin" }, admin);
  // The change of the role revokes Root's access tokens, but not the session in `root.headers`.
  const made = await api.post(`/users/${ann.id}/act`, undefined, root.headers);
  assert.equal(made.status, 201, made.text);
  assert.equal((await api.get("/protected/", bearer(made.json.access))).json.acting.id, root.id);
  api.clock.turn(601);
  const stale = await api.post(`/users/${ann.id}/act`, { current_password: root.password }, root.headers);
  assert.deepEqual([stale.status, stale.json.code], [401, "confirmation_required"]);
});

for (const [title, end] of [
  [
    "the user's password changes",
    ({ api, ann, admin }) => api.patch(`/users/${ann.id}`, { password: "another long password" }, admin),
  ],
  ["the user is deactivated", ({ api, ann, admin }) => api.patch(`/users/${ann.id}/account`, { active: false }, admin)],
  [
    "the user becomes an administrator",
    ({ api, ann, admin }) => api.patch(`/users/${ann.id}/account`, { role: "admin" }, admin),
  ],
  ["the user is deleted", ({ api, ann, admin }) => api.delete(`/users/${ann.id}`, admin)],
  ["the user ends all logins", ({ api, ann }) => api.delete(`/users/${ann.id}/sessions`, basic(ann))],
  [
    "the administrator's password changes",
    ({ api }) =>
      api.patch("/users/1", { password: "another long password", current_password: adminPassword }, api.admin),
  ],
  ["the administrator logs out", ({ api, admin }) => api.ask("DELETE", "/users/1/sessions", { headers: admin })],
  [
    "the administrator loses the role",
    async ({ api, admin }) => {
      const other = await api.user("Cleo");
      await api.patch(`/users/${other.id}/account`, { role: "admin" }, admin);
      return api.patch("/users/1/account", { role: "user" }, other.headers);
    },
  ],
  [
    "the administrator is deactivated",
    async ({ api, admin }) => {
      const other = await api.user("Cleo");
      await api.patch(`/users/${other.id}/account`, { role: "admin" }, admin);
      return api.patch("/users/1/account", { active: false }, other.headers);
    },
  ],
] as readonly (readonly [string, (world: World) => Promise<{ readonly status: number; readonly text: string }>])[])
  test(`ends an acting token if ${title}`, async (t) => {
    const world = await start(t);
    const { api, acting } = world;
    // Makes the service cache the verified token, so that the last request tests the cached token.
    assert.equal((await api.get("/protected/", acting)).status, 200);

    const ended = await end(world);

    assert.ok(ended.status < 300, ended.text);
    assert.equal((await api.get("/protected/", acting)).status, 401);
  });

function basic({ email, password }: World["ann"]): Headers {
  return { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString("base64")}` };
}

test("refuses to refresh an acting token, and reports no login level for it", async (t) => {
  const { api, acting } = await start(t);
  const token = acting["authorization"]!.slice("Bearer ".length);

  assert.equal((await api.post("/api/token/refresh/", { refresh: token })).status, 401);
  assert.equal((await api.post("/api/token/verify/", { token })).status, 200);
  assert.equal((await api.get("/api/session/", acting)).json.level, null);
});

test("names the user and the acting administrator in the log and in the `cause` of a transaction", async (t) => {
  const causes: Cause[] = [];
  const watch = defineFeature({
    name: "watch",
    setUp: () => ({ offer: null, alongside: ({ cause }) => (causes.push(cause), []) }),
  });
  const { api, ann, acting } = await start(t, { config: { features: [watch] } });
  assert.equal((await api.post("/orders", {}, acting)).status, 201);

  const { userId, actorId } = causes.at(-1)!;
  assert.deepEqual([userId, actorId], [ann.id, 1]);

  const line = api.observed.findLast(({ kind }) => kind === "request");
  assert.ok(line?.kind === "request");
  assert.deepEqual([line.userId, line.actorId], [ann.id, 1]);
});

test("keeps the idempotency keys of an acting administrator apart from those of the user", async (t) => {
  const { api, ann, acting } = await start(t);
  const own = await logIn(api, ann.email, ann.password);
  const key = { "idempotency-key": "the-same-key-of-both" };
  const body = {};
  const first = await api.post("/orders", body, { ...own, ...key });
  const second = await api.post("/orders", body, { ...acting, ...key });
  const third = await api.post("/orders", body, { ...acting, ...key });

  assert.deepEqual([first.status, second.status, third.status], [201, 201, 201]);
  assert.notEqual(first.json.id, second.json.id);
  assert.equal(second.json.id, third.json.id);
});
