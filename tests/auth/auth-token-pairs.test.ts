import assert from "node:assert/strict";
import { test } from "node:test";
import { serve, type API } from "../harness/serve.ts";

const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

async function logIn(api: API, { email: username, password }: { readonly email: string; readonly password: string }) {
  const reply = await api.post("/api/token/", { username, password });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as { access: string; refresh: string; token_type: string; expires_in: number };
}

test("returns a token pair at login, with and without a slash at the end of the path", async (t) => {
  const api = await serve(t);
  const { email: username, password } = await api.user("Ann");

  for (const path of ["/api/token/", "/api/token"]) {
    const reply = await api.post(path, { username, password });

    assert.deepEqual(Object.keys(reply.json), ["access", "refresh", "token_type", "expires_in"]);
    assert.deepEqual([reply.status, reply.json.token_type, reply.json.expires_in], [200, "Bearer", 300]);
    assert.equal(reply.headers.get("cache-control"), "no-store");
    assert.equal(reply.headers.get("set-cookie"), null);
    assert.equal((await api.get("/protected/", bearer(reply.json.access))).json.scheme, "bearer");
  }
  assert.equal((await api.post("/api/token/", { username: username.toUpperCase(), password })).status, 200);
});

test("reads only JSON and forms at the token login, and names each invalid field", async (t) => {
  const api = await serve(t);
  const rows = [
    { body: { username: "admin" }, issues: ["/password required"] },
    { body: {}, issues: ["/username required", "/password required"] },
    { body: { username: 1, password: ["x"] }, issues: ["/username invalid", "/password invalid"] },
    { body: { username: null, password: null }, issues: ["/username required", "/password required"] },
    { body: { username: "admin", password: "x", cookie: "yes" }, issues: ["/cookie invalid"] },
    { body: { username: "admin", password: "x", grant: 1 }, issues: ["/grant unknown_field"] },
    {
      body: { username: "x".repeat(5000), password: "x".repeat(5000) },
      issues: ["/username too_long", "/password too_long"],
    },
    { body: [], issues: [" invalid"] },
    { body: "null", issues: [" invalid"] },
  ];

  for (const { body, issues } of rows) {
    const reply = await api.post("/api/token/", body);

    assert.equal(reply.status, 400);
    assert.deepEqual(
      reply.json.errors.map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`),
      issues,
    );
  }
  for (const type of ["text/plain", "application/xml", "multipart/form-data; boundary=x"]) {
    assert.equal(
      (await api.post("/api/token/", '{"username":"admin","password":"x"}', { "content-type": type })).status,
      415,
    );
  }
  for (const body of ["", "{", '{"username":"a","username":"b","password":"x"}'])
    assert.equal((await api.post("/api/token/", body)).json.code, "malformed");
});

test("gives the same response for every reason why a login fails", async (t) => {
  const api = await serve(t);
  const [ann, bob] = [await api.user("Ann"), await api.user("Bob")];
  await api.patch(`/users/${bob.id}/account`, { active: false }, api.admin);
  const none = await api.post("/users", { name: "None", email: "none@example.com" }, api.admin);
  assert.equal(none.status, 201);

  for (const path of ["/api/token/", "/api/session/", "/api-token-auth/"]) {
    const answers = new Set<string>();
    for (const body of [
      { username: "nobody", password: "wrong" },
      { username: ann.email, password: "wrong" },
      { username: bob.email, password: bob.password },
      { username: "none@example.com", password: "anything" },
    ]) {
      const reply = await api.post(path, body);
      const { request_id: _, ...problem } = reply.json;
      answers.add(
        JSON.stringify([reply.status, problem, [...reply.headers].filter(([name]) => name !== "x-request-id")]),
      );
      assert.equal(reply.status, 401);
      assert.equal(reply.json.code, "invalid_credentials");
      assert.equal(reply.json.detail, "No active account found with the given credentials");
      assert.match(reply.headers.get("www-authenticate")!, /^Bearer realm="latchkey"$/);
    }
    assert.equal(answers.size, 1);
    api.clock.turn(61);
  }
});

test("ignores other credentials of a login request", async (t) => {
  const api = await serve(t);
  const { email: username, password } = await api.user("Ann");
  const pair = await logIn(api, { email: username, password });
  const stale = {
    authorization: "Bearer x",
    cookie: "session=stale; access_token=x; session=other",
    "x-custom-token": "x",
  };

  assert.equal((await api.post("/api/token/", { username, password }, stale)).status, 200);
  assert.equal((await api.post("/api/session/", { username, password }, stale)).status, 201);
  assert.equal((await api.post("/api-token-auth/", { username, password }, stale)).status, 200);
  assert.equal((await api.post("/api/token/verify/", { token: pair.access }, stale)).status, 200);
  assert.equal((await api.post("/api/token/refresh/", { refresh: pair.refresh }, stale)).status, 200);
  assert.equal(
    (await api.ask("DELETE", "/api/token/", { body: { refresh: pair.refresh }, headers: stale })).status,
    204,
  );
});

test("returns the same successor if a refresh token is sent again within ten seconds, and revokes the family if it is sent later", async (t) => {
  const api = await serve(t);
  const first = await logIn(api, await api.user("Ann"));
  const refresh = (token: string) => api.post("/api/token/refresh/", { refresh: token });

  const second = await refresh(first.refresh);
  assert.deepEqual(Object.keys(second.json), ["access", "refresh", "token_type", "expires_in"]);
  assert.notEqual(second.json.refresh, first.refresh);
  api.clock.turn(9);
  const again = await refresh(first.refresh);
  assert.equal(again.json.refresh, second.json.refresh);
  const third = await refresh(second.json.refresh);
  for (const access of [first.access, second.json.access, again.json.access, third.json.access])
    assert.equal((await api.get("/protected/", bearer(access))).status, 200);

  api.clock.turn(2);
  const reused = await refresh(first.refresh);
  assert.deepEqual([reused.status, reused.json.code], [401, "token_not_valid"]);
  assert.equal((await refresh(third.json.refresh)).status, 401);
  for (const access of [first.access, second.json.access, again.json.access, third.json.access])
    assert.equal((await api.get("/protected/", bearer(access))).status, 401);
  assert.equal(api.observed.filter(({ kind }) => kind === "refresh_reuse").length, 1);
});

test("returns the same successor to concurrent refreshes", async (t) => {
  const api = await serve(t);
  const { refresh } = await logIn(api, await api.user("Ann"));

  const replies = await Promise.all(Array.from({ length: 20 }, () => api.post("/api/token/refresh/", { refresh })));

  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(replies.map(({ json }) => json.refresh)).size, 1);
});

test("expires tokens after their lifetimes, and does not extend the family at a refresh", async (t) => {
  const api = await serve(t, {
    settings: {
      LATCHKEY_ACCESS_SECONDS: "60",
      LATCHKEY_REFRESH_SECONDS: "100",
      LATCHKEY_REFRESH_FAMILY_SECONDS: "150",
    },
  });
  const pair = await logIn(api, await api.user("Ann"));

  api.clock.turn(59);
  assert.equal((await api.get("/protected/", bearer(pair.access))).status, 200);
  api.clock.turn(1);
  const expired = await api.get("/protected/", bearer(pair.access));
  assert.equal(expired.status, 401);
  assert.match(expired.headers.get("www-authenticate")!, /error="invalid_token"/);
  const second = await api.post("/api/token/refresh/", { refresh: pair.refresh });
  assert.equal(second.status, 200);
  api.clock.turn(89);
  assert.equal((await api.post("/api/token/verify/", { token: second.json.refresh })).status, 200);
  api.clock.turn(1);
  assert.equal((await api.post("/api/token/refresh/", { refresh: second.json.refresh })).status, 401);
});

test("verifies valid tokens without using them up", async (t) => {
  const api = await serve(t);
  const { access, refresh } = await logIn(api, await api.user("Ann"));
  const verify = (token: unknown) => api.post("/api/token/verify/", { token });

  for (const token of [access, refresh, refresh, access]) {
    const reply = await verify(token);
    assert.deepEqual([reply.status, reply.text], [200, "{}"]);
  }
  await api.post("/api/token/refresh/", { refresh });
  assert.equal((await verify(refresh)).status, 401);
  for (const token of ["x", "a.b.c", `${access}x`]) assert.equal((await verify(token)).status, 401);
  assert.equal((await api.post("/api/token/verify/", {})).json.errors[0].pointer, "/token");
});

test("revokes the token family at logout, and answers 204 to an unknown token too", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const [one, other] = [await logIn(api, ann), await logIn(api, ann)];
  const logOut = (body?: unknown) => api.ask("DELETE", "/api/token/", body === undefined ? {} : { body });

  const reply = await logOut({ refresh: one.refresh });

  assert.deepEqual([reply.status, reply.text], [204, ""]);
  assert.equal((await api.get("/protected/", bearer(one.access))).status, 401);
  assert.equal((await api.post("/api/token/refresh/", { refresh: one.refresh })).status, 401);
  assert.equal((await api.get("/protected/", bearer(other.access))).status, 200);
  for (const refresh of [one.refresh, "x", "a.b.c", one.access]) assert.equal((await logOut({ refresh })).status, 204);
  assert.equal((await logOut()).status, 400);
  assert.equal((await logOut({ refresh: 1 })).json.errors[0].pointer, "/refresh");
});

test("refuses a token with a challenge that names the reason", async (t) => {
  const api = await serve(t);

  for (const reply of [
    await api.post("/api/token/refresh/", { refresh: "x" }),
    await api.post("/api/token/verify/", { token: "x" }),
  ]) {
    assert.equal(reply.status, 401);
    assert.match(
      reply.headers.get("www-authenticate")!,
      /^Bearer realm="latchkey", error="invalid_token", error_description="[^"]+"$/,
    );
  }
});
