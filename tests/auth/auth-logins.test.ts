import assert from "node:assert/strict";
import { test } from "node:test";
import { adminPassword, serve } from "../harness/serve.ts";

const admin = { username: "admin", password: adminPassword };

/** The endpoints of each scheme, and the challenge of a refused login if no other scheme is enabled. */
const logins = [
  {
    scheme: "session",
    calls: ["POST /api/session/", "GET /api/session/", "DELETE /api/session/", "POST /api/session/end/"],
    challenge: 'Session realm="latchkey"',
  },
  {
    scheme: "bearer",
    calls: ["POST /api/token/", "DELETE /api/token/", "POST /api/token/refresh/", "POST /api/token/verify/"],
    challenge: 'Bearer realm="latchkey"',
  },
  {
    scheme: "token",
    calls: ["POST /api-token-auth/", "POST /users/1/token", "GET /users/1/token", "DELETE /users/1/token"],
    challenge: 'Token realm="latchkey"',
  },
];

for (const { scheme, calls, challenge } of logins) {
  test(`serves no endpoint of another scheme's login if ${scheme} is the only scheme`, async (t) => {
    const api = await serve(t, { settings: { LATCHKEY_SCHEMES: scheme } });

    for (const other of logins.filter((each) => each.scheme !== scheme)) {
      for (const call of other.calls) {
        const [method = "", path = ""] = call.split(" ");
        assert.equal((await api.ask(method, path, method === "GET" ? {} : { body: admin })).status, 404, call);
        assert.equal((await api.ask("OPTIONS", path)).status, 404);
      }
    }
    const document = (await api.get("/openapi.json")).json;
    for (const { scheme: each, calls: own } of logins) {
      for (const call of own) {
        const path = call.split(" ")[1]!.replace("/1/", "/{id}/");
        assert.equal(path in document.paths, each === scheme, path);
      }
    }

    const refused = await api.ask(...(calls[0]!.split(" ") as [string, string]), { body: { ...admin, password: "x" } });
    assert.deepEqual(
      [refused.status, refused.json.code, refused.json.detail, refused.headers.get("www-authenticate")],
      [401, "invalid_credentials", "No active account found with the given credentials", challenge],
    );
  });
}

test("serves the list of the caller's sessions even if Basic is the only scheme", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_SCHEMES: "basic" } });

  assert.equal((await api.get("/users/1/sessions", api.admin)).status, 200);
  assert.equal((await api.get("/protected/", api.admin)).json.scheme, "basic");
});

test("accepts the first refresh token repeatedly if rotation is off, and returns only access tokens", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_REFRESH_ROTATION: "off" } });
  const ann = await api.user("Ann");
  const login = { username: ann.email, password: ann.password };
  const { refresh } = (await api.post("/api/token/", login)).json;

  for (let time = 0; time < 3; time += 1) {
    api.clock.turn(3600);
    const answer = await api.post("/api/token/refresh/", { refresh });
    assert.deepEqual(Object.keys(answer.json), ["access", "token_type", "expires_in"]);
    const authorization = `Bearer ${answer.json.access}`;
    assert.equal((await api.get("/protected/", { authorization })).json.user.id, ann.id);
  }
  assert.equal((await api.post("/api/token/verify/", { token: refresh })).status, 200);

  const cookies = (await api.post("/api/token/", { ...login, cookie: true })).headers.getSetCookie();
  const cookie = cookies.map((each) => each.split(";")[0]).join("; ");
  const byCookie = await api.ask("POST", "/api/token/refresh/", { headers: { cookie } });
  assert.deepEqual(Object.keys(byCookie.json), ["token_type", "expires_in"]);
  assert.deepEqual(
    byCookie.headers.getSetCookie().map((each) => each.replace(/=.*/, "")),
    ["access_token"],
  );

  const last = (await api.post("/api/token/refresh/", { refresh })).json.access;
  assert.equal((await api.ask("DELETE", "/api/token/", { body: { refresh } })).status, 204);
  for (const answer of [
    await api.post("/api/token/refresh/", { refresh }),
    await api.post("/api/token/verify/", { token: refresh }),
    await api.get("/protected/", { authorization: `Bearer ${last}` }),
  ])
    assert.deepEqual([answer.status, answer.json.code], [401, "token_not_valid"]);

  const second = (await api.post("/api/token/", login)).json;
  const change = { password: "another good password", current_password: ann.password };
  assert.equal((await api.patch(`/users/${ann.id}`, change, ann.headers)).status, 200);
  assert.equal((await api.post("/api/token/refresh/", { refresh: second.refresh })).json.code, "token_not_valid");
});

test("refuses to start with an invalid setting of rotation", async (t) => {
  await assert.rejects(
    serve(t, { settings: { LATCHKEY_REFRESH_ROTATION: "no" } }),
    /LATCHKEY_REFRESH_ROTATION is "no"/,
  );
});
