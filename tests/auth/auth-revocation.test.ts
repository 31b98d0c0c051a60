import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { basicHeader, serve, type API } from "../harness/serve.ts";
import { sharedDatabase, testsOnPostgres } from "../harness/test-store.ts";

type User = Awaited<ReturnType<API["user"]>>;
type Headers = Readonly<Record<string, string>>;

/** Every kind of credential that a user can have. */
interface Credentials {
  readonly password: Headers;
  readonly session: Headers;
  readonly access: Headers;
  readonly accessCookie: Headers;
  readonly token: Headers;
  readonly refresh: string;
}

async function everyCredential(api: API, { id, email: username, password, headers }: User): Promise<Credentials> {
  const session = await api.post("/api/session/", { username, password });
  const pair = (await api.post("/api/token/", { username, password })).json;
  const { token } = (await api.post(`/users/${id}/token`, undefined, headers)).json;
  return {
    password: headers,
    session: { cookie: session.headers.get("set-cookie")!.split(";")[0]! },
    access: { authorization: `Bearer ${pair.access}` },
    accessCookie: { cookie: `access_token=${pair.access}` },
    token: { authorization: `Token ${token}` },
    refresh: pair.refresh,
  };
}

/** Returns the names of the credentials that still work. */
async function living(api: API, credentials: Credentials): Promise<string[]> {
  const found: string[] = [];
  for (const name of ["password", "session", "access", "accessCookie", "token"] as const) {
    const { status } = await api.get("/protected/", credentials[name]);
    assert.ok(status === 200 || status === 401, `${name}: ${status}`);
    if (status === 200) found.push(name);
  }
  const refreshed = await api.post("/api/token/refresh/", { refresh: credentials.refresh });
  return refreshed.status === 200 ? [...found, "refresh"] : found;
}

const everything = ["password", "session", "access", "accessCookie", "token", "refresh"];
const newPassword = "another password of Ann";

const rows: { what: string; change: (api: API, ann: User) => Promise<{ status: number }>; left: string[] }[] = [
  {
    what: "a changed name",
    change: (api, ann) => api.patch(`/users/${ann.id}`, { name: "Anna" }, ann.headers),
    left: everything,
  },
  {
    what: "a refused password",
    change: (api, ann) =>
      api.patch(`/users/${ann.id}`, { password: "short", current_password: ann.password }, ann.headers),
    left: everything,
  },
  {
    what: "a password change without the current password",
    change: (api, ann) => api.patch(`/users/${ann.id}`, { password: newPassword }, ann.headers),
    left: everything,
  },
  {
    what: "a password change by the user",
    change: (api, ann) =>
      api.patch(`/users/${ann.id}`, { password: newPassword, current_password: ann.password }, ann.headers),
    left: ["token"],
  },
  {
    what: "a password change by an administrator",
    change: (api, ann) => api.patch(`/users/${ann.id}`, { password: newPassword }, api.admin),
    left: ["token"],
  },
  {
    what: "a PUT with a password",
    change: (api, ann) =>
      api.put(`/users/${ann.id}`, { name: "Ann", email: ann.email, password: newPassword }, api.admin),
    left: ["token"],
  },
  {
    what: "a deactivation",
    change: (api, ann) => api.patch(`/users/${ann.id}/account`, { active: false }, api.admin),
    left: [],
  },
  { what: "a deletion", change: (api, ann) => api.delete(`/users/${ann.id}`, api.admin), left: [] },
  { what: "a deletion by the user", change: (api, ann) => api.delete(`/users/${ann.id}`, ann.headers), left: [] },
  {
    what: "a change of the role",
    change: (api, ann) => api.patch(`/users/${ann.id}/account`, { role: "admin" }, api.admin),
    left: ["password", "session", "token", "refresh"],
  },
  {
    what: "a change of the username",
    change: (api, ann) => api.patch(`/users/${ann.id}/account`, { username: "ann" }, api.admin),
    left: ["session", "access", "accessCookie", "token", "refresh"],
  },
];

test("revokes exactly the credentials that a change must end, immediately", async (t) => {
  const api = await serve(t);
  const his = await everyCredential(api, await api.user("Bob"));

  for (const [at, { what, change, left }] of rows.entries()) {
    await t.test(`${what} leaves ${left.join(", ") || "nothing"}`, async () => {
      const ann = await api.user(`Ann${at}`);
      const hers = await everyCredential(api, ann);
      await api.get("/protected/", hers.password);

      const { status } = await change(api, ann);

      assert.ok(status < 500);
      assert.deepEqual(await living(api, hers), left);
      assert.deepEqual(await living(api, his), everything);
    });
  }
});

test("accepts a new password immediately, and the credentials that a login with it returns", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const before = await everyCredential(api, ann);
  await api.patch(`/users/${ann.id}`, { password: newPassword }, api.admin);

  const after = await everyCredential(api, {
    ...ann,
    password: newPassword,
    headers: basicHeader(ann.email, newPassword),
  });

  assert.deepEqual(await living(api, after), everything);
  assert.deepEqual(await living(api, before), ["token"]);
});

test("accepts no credential of a deleted user for a new user with the same id", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const before = await everyCredential(api, ann);
  await api.delete(`/users/${ann.id}`, api.admin);
  api.clock.turn(1);
  const again = { name: "Ann", email: ann.email, password: newPassword };
  assert.equal((await api.put(`/users/${ann.id}`, again, api.admin)).status, 201);

  const after = await everyCredential(api, {
    ...ann,
    password: newPassword,
    headers: basicHeader(ann.email, newPassword),
  });

  assert.deepEqual(await living(api, before), []);
  assert.deepEqual(await living(api, after), everything);
});

test("applies a new role immediately, refuses access tokens of the former role, and issues new ones at a refresh", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const hers = await everyCredential(api, ann);
  assert.equal((await api.get("/users/1", hers.session)).status, 403);

  await api.patch(`/users/${ann.id}/account`, { role: "admin" }, api.admin);

  for (const headers of [hers.session, hers.password, hers.token])
    assert.equal((await api.get("/users/1", headers)).status, 200);
  const renewed = (await api.post("/api/token/refresh/", { refresh: hers.refresh })).json;
  assert.equal((await api.get("/users/1", { authorization: `Bearer ${renewed.access}` })).status, 200);
  await api.patch(`/users/${ann.id}/account`, { role: "user" }, api.admin);
  for (const headers of [hers.session, hers.password, hers.token])
    assert.equal((await api.get("/users/1", headers)).status, 403);
  assert.equal((await api.get("/users/1", { authorization: `Bearer ${renewed.access}` })).status, 401);
});

test("revokes all credentials even if several changes run concurrently", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const hers = await everyCredential(api, ann);

  const replies = await Promise.all([
    api.patch(`/users/${ann.id}`, { password: newPassword }, api.admin),
    api.patch(`/users/${ann.id}`, { password: `${newPassword}!` }, api.admin),
    api.patch(`/users/${ann.id}/account`, { active: false }, api.admin),
    api.patch(`/users/${ann.id}/account`, { active: false }, api.admin),
  ]);

  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  assert.deepEqual(await living(api, hers), []);
});

async function pairOfServices(t: TestContext): Promise<[API, API]> {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both of the services know",
  };
  return [await serve(t, { settings }), await serve(t, { settings })];
}

test("accepts the credentials of one service in another on the same database, and shares revocations", async (t) => {
  const [one, other] = await pairOfServices(t);
  const ann = await one.user("Ann");
  const hers = await everyCredential(one, ann);
  for (const name of ["password", "session", "access", "token"] as const)
    assert.equal((await other.get("/protected/", hers[name])).status, 200, name);
  const second = (await other.post("/api/token/refresh/", { refresh: hers.refresh })).json;
  assert.equal((await one.post("/api/token/refresh/", { refresh: hers.refresh })).json.refresh, second.refresh);
  assert.equal(
    (await other.post(`/users/${ann.id}/token`, undefined, ann.headers)).json.token,
    hers.token["authorization"]!.slice(6),
  );

  assert.equal((await other.patch(`/users/${ann.id}`, { password: newPassword }, other.admin)).status, 200);

  await untilRefused(one, hers.access);
  assert.deepEqual(await living(one, { ...hers, refresh: second.refresh }), ["token"]);
  const renewed = await everyCredential(one, {
    ...ann,
    password: newPassword,
    headers: basicHeader(ann.email, newPassword),
  });
  await one.ask("DELETE", "/api/token/", { body: { refresh: renewed.refresh } });
  await untilRefused(other, renewed.access);
  await one.delete(`/users/${ann.id}`, one.admin);
  assert.deepEqual(await living(other, renewed), []);
});

test("still refuses a token after a promotion if a demotion has revoked it", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const account = `/users/${ann.id}/account`;
  const login = { username: ann.email, password: ann.password };
  await api.patch(account, { role: "admin" }, api.admin);
  const old = { authorization: `Bearer ${(await api.post("/api/token/", login)).json.access}` };
  assert.equal((await api.get("/users/1", old)).status, 200);

  for (const role of ["user", "admin", "user", "admin"]) {
    await api.patch(account, { role }, api.admin);
    assert.equal((await api.get("/protected/", old)).status, 401, role);
  }

  const renewed = { authorization: `Bearer ${(await api.post("/api/token/", login)).json.access}` };
  assert.equal((await api.get("/users/1", renewed)).status, 200);
});

test("revokes API tokens at a password change only if the request sets end_keys", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const hers = await everyCredential(api, ann);
  const proof = { current_password: ann.password, end_keys: true };
  const alone = await api.patch(`/users/${ann.id}`, { name: "Anna", ...proof }, ann.headers);
  assert.deepEqual([alone.status, alone.json.errors[0].pointer], [400, "/end_keys"]);
  assert.equal((await api.patch(`/users/${ann.id}`, { name: "Anna", end_keys: false }, ann.headers)).status, 200);
  assert.deepEqual(await living(api, hers), everything);

  const changed = await api.patch(`/users/${ann.id}`, { password: newPassword, ...proof }, ann.headers);

  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(await living(api, hers), []);
});

test("refuses a revoked token also in a process with longer lifetimes than the process that revoked it", async (t) => {
  const settings = {
    LATCHKEY_DATABASE: (await sharedDatabase(t)).url,
    LATCHKEY_SECRET: "a secret that both know, and nobody else",
  };
  const api = await serve(t, { settings: { ...settings, LATCHKEY_ACCESS_SECONDS: "3600" } });
  // Has the default lifetimes, like a command that runs without LATCHKEY_ACCESS_SECONDS.
  const command = await serve(t, { settings });
  const createBearer = async (name: string) => {
    const { id, email: username, password } = await api.user(name);
    const { access, refresh } = (await api.post("/api/token/", { username, password })).json;
    return { id, refresh, headers: { authorization: `Bearer ${access}` } };
  };
  const [ann, ben, cas] = [await createBearer("Ann"), await createBearer("Ben"), await createBearer("Cas")];
  for (const { headers } of [ann, ben, cas]) assert.equal((await api.get("/protected/", headers)).status, 200);

  assert.equal((await command.patch(`/users/${ann.id}/account`, { active: false }, command.admin)).status, 200);
  assert.equal((await command.patch(`/users/${ben.id}/account`, { role: "admin" }, command.admin)).status, 200);
  assert.equal((await command.ask("DELETE", "/api/token/", { body: { refresh: cas.refresh } })).status, 204);
  for (const { headers } of [ann, ben, cas]) await untilRefused(api, headers);
  api.clock.turn(1800);

  for (const { headers } of [ann, ben, cas]) assert.equal((await api.get("/protected/", headers)).status, 401);
});

/**
 * Waits until a credential is refused. Another process sees a revocation immediately on SQLite, and within a second on
 * PostgreSQL.
 */
async function untilRefused(api: API, headers: Readonly<Record<string, string>>): Promise<void> {
  while ((await api.get("/protected/", headers)).status !== 401) assert.ok(testsOnPostgres);
}
