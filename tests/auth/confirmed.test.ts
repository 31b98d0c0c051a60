import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { administrator, allOf, anyOf, confirmed, defineEndpoint, not } from "../../src/door/index.ts";
import { addTOTP, readCookies } from "../harness/factors.ts";
import { serve } from "../harness/serve.ts";

let done = 0;

function endpoint(path: `/${string}`, access: Permission) {
  return defineEndpoint({
    method: "POST",
    path,
    access,
    handle: () => ({ status: 200, body: { kind: "data", value: { done: ++done }, element: "done" } }),
  });
}

const config = {
  endpoints: [
    endpoint("/once", confirmed({ within: 300 })),
    endpoint("/twice", confirmed({ within: 300, level: 2 })),
    endpoint("/both", allOf(administrator, confirmed({ within: 300 }))),
    endpoint("/either", anyOf(administrator, confirmed({ within: 300 }))),
  ],
};

test("asks for a confirmation if the login is too old, and calls the handler only after it", async (t) => {
  const api = await serve(t, { config });
  const { email: username, password } = await api.user("Ann");
  const session = readCookies(await api.post("/api/session/", { username, password }));
  assert.equal((await api.post("/once", undefined, session)).status, 200);
  const before = done;

  api.clock.turn(300);
  const refused = await api.post("/once", undefined, session);
  assert.deepEqual([refused.status, refused.json.code], [401, "confirmation_required"]);
  assert.match(
    refused.headers.get("www-authenticate")!,
    /error="insufficient_user_authentication", max_age="300", acr_values="1"/,
  );
  assert.equal(done, before);

  const started = await api.post("/api/login/confirm/", undefined, session);
  assert.deepEqual(started.json.factors, [{ id: "password", kind: "password", label: "Password" }]);
  const cookie = { cookie: `${session["cookie"]}; ${readCookies(started)["cookie"]}` };
  const wrong = await api.post("/api/login/", { factor: "password", password: "not this one" }, cookie);
  assert.deepEqual([wrong.status, wrong.json.code], [401, "invalid_credentials"]);
  const confirmedLogin = await api.post("/api/login/", { factor: "password", password }, cookie);
  assert.equal(confirmedLogin.status, 201, confirmedLogin.text);
  assert.equal((await api.post("/once", undefined, readCookies(confirmedLogin))).status, 200);
});

test("asks for a second factor if `level` is 2, even if the login without one is fresh", async (t) => {
  const api = await serve(t, { config });
  const { email: username, password } = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const refused = await api.post("/twice", undefined, { authorization: `Bearer ${access}` });
  assert.deepEqual([refused.status, refused.json.code], [401, "confirmation_required"]);

  const ann = await addTOTP(api, "Ann");
  assert.equal((await api.post("/twice", undefined, ann.headers)).status, 200);
});

test("refuses an API token with 403, because a program cannot confirm a login", async (t) => {
  const api = await serve(t, { config });
  const { email: username, password } = await api.user("Ann");
  const { token } = (await api.post("/api-token-auth/", { username, password })).json;
  const headers = { authorization: `Token ${token}` };

  assert.deepEqual((await api.post("/once", undefined, headers)).status, 403);
  assert.deepEqual((await api.post("/api/login/confirm/", undefined, headers)).status, 403);
});

test("combines with other permissions by allOf and anyOf", async (t) => {
  const api = await serve(t, { config });
  const { email: username, password } = await api.user("Ann");
  const session = readCookies(await api.post("/api/session/", { username, password }));
  api.clock.turn(300);

  assert.equal((await api.post("/both", undefined, session)).status, 403);
  assert.equal((await api.post("/both", undefined, api.admin)).status, 200);
  assert.equal((await api.post("/either", undefined, session)).status, 401);
  assert.equal((await api.post("/either", undefined, api.admin)).status, 200);
});

test("refuses invalid options, and a negation by `not`", () => {
  assert.throws(() => confirmed({ within: 0 }), /within/);
  assert.throws(() => confirmed({ within: 300, level: 3 as never }), /level/);
  const asks = not(confirmed({ within: 300 }));
  const identity = {
    id: 1,
    username: "a",
    role: "user",
    scheme: "x",
    scopes: null,
    expiresAt: null,
    proofs: [],
  } as const;
  assert.throws(() => asks.decide({ identity, action: "call", params: {}, now: 0 }), /cannot be negated/);
});
