import assert from "node:assert/strict";
import { test } from "node:test";
import type { Arrival } from "../../src/door/http.ts";
import { accepted, anyone, defineEndpoint, type Scheme } from "../../src/door/index.ts";
import { adminPassword, basicHeader, serve, type API } from "../harness/serve.ts";

const wanted = { "x-latchkey-explain": "1" };
const settings = {
  LATCHKEY_SCHEMES: "basic,session,token,bearer,remote-user,custom-header",
  LATCHKEY_TRUSTED_PROXIES: "10.0.0.1",
  LATCHKEY_REMOTE_USER_SECRET: "what-only-the-proxy-knows",
  LATCHKEY_CUSTOM_TOKEN: "custom-token-of-this-service-0123456789",
  LATCHKEY_CUSTOM_TOKEN_USERNAME: "admin",
};

async function requestToken(api: API, id: number): Promise<string> {
  return (await api.post(`/users/${id}/token`, undefined, api.admin)).json.token;
}

function createArrival(target: string, headers: Readonly<Record<string, string>>, peer = "127.0.0.1"): Arrival {
  return {
    method: "GET",
    target,
    rawHeaders: Object.entries(headers).flat(),
    peer,
    encrypted: false,
    readBody: async () => Buffer.of(),
  };
}

test("explains to an administrator, if the request asks for it, what each scheme found and why", async (t) => {
  const api = await serve(t, { settings });

  const reply = await api.get("/protected/", { ...api.admin, ...wanted, "x-remote-user": "admin" });

  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("cache-control"), "no-store");
  assert.deepEqual(JSON.parse(reply.headers.get("x-latchkey-explain")!), {
    outcome: "identified",
    user: 1,
    why: "One credential was accepted.",
    schemes: [
      { scheme: "basic", in: "Authorization: basic", saw: "accepted", user: 1, why: "It is a credential of user 1." },
      {
        scheme: "bearer",
        saw: "absent",
        in: null,
        why: "There is no credential in Authorization: bearer, nor in the cookie access_token.",
      },
      { scheme: "custom-header", saw: "absent", in: null, why: "There is no credential in the header x-custom-token." },
      {
        scheme: "remote-user",
        saw: "absent",
        in: null,
        why: "There was the header x-remote-user, from a peer that is not a trusted proxy: it was ignored.",
      },
      { scheme: "session", saw: "absent", in: null, why: "There is no credential in the cookie session." },
      { scheme: "token", saw: "absent", in: null, why: "There is no credential in Authorization: token." },
    ],
  });
});

test("explains a failed request too if one of its credentials is an administrator's", async (t) => {
  const api = await serve(t, { settings });
  const { id } = await api.user("Ann");
  const { access } = (await api.post("/api/token/", { username: "admin", password: adminPassword })).json;
  const cookie = (await api.post("/api/session/", { username: "ann@example.com", password: "password of Ann" })).headers
    .get("set-cookie")!
    .split(";")[0]!;
  const bearer = { authorization: `Bearer ${access}`, ...wanted };

  const rejected = await api.get("/protected/", { ...bearer, "x-custom-token": "wrong" });
  const passedOver = await api.get("/protected/", { ...bearer, cookie: `session=${"a".repeat(43)}` });
  const conflict = await api.get("/protected/", { ...bearer, cookie });

  const [why, whyNot] = [rejected, passedOver].map(({ headers }) => JSON.parse(headers.get("x-latchkey-explain")!));
  assert.deepEqual([rejected.status, passedOver.status], [401, 200]);
  assert.deepEqual([why.outcome, why.why], ["rejected", "One rejected credential ends the request: custom-header."]);
  assert.deepEqual(
    [whyNot.outcome, whyNot.why],
    ["identified", "One credential was accepted. The rejected cookie of session is ignored."],
  );
  assert.deepEqual(whyNot.schemes[4], {
    scheme: "session",
    in: "the cookie session",
    saw: "rejected",
    reason: "expired",
    why: "The session of the cookie is expired or revoked. Remove the cookie, or log in again.",
  });
  assert.deepEqual(
    [conflict.status, JSON.parse(conflict.headers.get("x-latchkey-explain")!).outcome],
    [400, "conflict"],
  );
  assert.ok(id > 1);
});

test("explains nothing to other users, nor to an administrator who did not ask", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const answers = [
    await api.get("/protected/", { ...ann.headers, ...wanted }),
    await api.get("/protected/", wanted),
    await api.get("/protected/", { ...basicHeader("admin", "wrong"), ...wanted }),
    await api.get("/protected/", api.admin),
    await api.get("/protected/", { ...api.admin, "x-latchkey-explain": "0" }),
    await api.get("/livez", { ...api.admin, ...wanted }),
  ];

  assert.deepEqual(
    answers.map(({ status, headers }) => [status, headers.get("x-latchkey-explain")]),
    [200, 401, 401, 200, 200, 200].map((status) => [status, null]),
  );
});

test("marks an explanation as not cacheable, even that of a public response", async (t) => {
  const notice = defineEndpoint({
    method: "GET",
    path: "/notice",
    access: anyone,
    handle: () => ({
      status: 200,
      cache: "public",
      maxAgeSeconds: 60,
      body: { kind: "data", value: "hello", element: "notice" },
    }),
  });
  const api = await serve(t, { config: { endpoints: [notice] } });

  assert.equal((await api.get("/notice", api.admin)).headers.get("cache-control"), "public, max-age=60");
  assert.equal((await api.get("/notice", { ...api.admin, ...wanted })).headers.get("cache-control"), "no-store");
});

test("writes an explanation without a secret, and only with characters that a header field may contain", async (t) => {
  const zoe: Scheme = {
    name: "zoe",
    carriers: [{ in: "header", name: "X-Zoe" }],
    authenticate: () =>
      accepted({ id: 1, username: "admin", role: "admin", scheme: "zoe", scopes: ["zoë\r\nb"], expiresAt: 0 }),
  };
  const api = await serve(t, { settings, config: { schemes: [zoe] } });
  const token = await requestToken(api, 1);
  const cookie = (await api.post("/api/session/", { username: "admin", password: adminPassword })).headers
    .get("set-cookie")!
    .split(";")[0]!;
  const headers = {
    authorization: `Token ${token}`,
    cookie,
    "x-custom-token": settings.LATCHKEY_CUSTOM_TOKEN,
    "x-zoe": "a secret of Zoe",
    ...wanted,
  };

  const explanation = (await api.get("/protected/", headers)).headers.get("x-latchkey-explain")!;

  assert.match(explanation, /^[\x20-\x7e]+$/);
  assert.equal(JSON.parse(explanation).schemes.at(-1).scheme, "zoe");
  for (const secret of [
    token,
    token.slice(17),
    cookie.split("=")[1]!,
    settings.LATCHKEY_CUSTOM_TOKEN,
    "a secret of Zoe",
  ])
    assert.ok(!explanation.includes(secret));
});

test("explains a request without executing it, and reports no observation and counts no guess", async (t) => {
  const api = await serve(t, { settings });
  const token = await requestToken(api, 1);
  const before = api.observed.length;
  const explain = async (target: string, headers: Readonly<Record<string, string>>, peer?: string) => {
    const { outcome, user, why } = await api.service.explain(createArrival(target, headers, peer));
    return [outcome, user, why];
  };

  assert.deepEqual(await explain("/orders", { Authorization: `Token ${token}` }), [
    "identified",
    1,
    "One credential was accepted.",
  ]);
  for (let times = 0; times < 12; times++) {
    assert.equal((await explain("/orders", { Authorization: "Token lk_x", "X-Custom-Token": "wrong" }))[0], "rejected");
  }
  assert.deepEqual(await explain("/nowhere", {}), ["nobody", null, "No scheme found a credential."]);
  assert.deepEqual(await explain("/livez", api.admin), ["open", null, "The endpoint looks at no credential."]);
  assert.equal(
    (await explain("/orders", { Authorization: "Basic YTpi" }, "192.0.2.1"))[2]?.toString().slice(0, 23),
    "403 insecure_transport:",
  );
  assert.equal((await explain("/orders", { "X-Custom-Token": "a", "x-custom-token": "b" }))[0], "ended");
  assert.equal(api.observed.length, before);
});
