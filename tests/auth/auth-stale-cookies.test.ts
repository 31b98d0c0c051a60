import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { anyone, defineEndpoint, defineResource, mount, text } from "../../src/door/index.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

// Cookies of other programs, and cookies whose login has expired. A browser sends both, and its user cannot remove
// them.

const admin = { username: "admin", password: adminPassword };
const note = mount(defineResource({ name: "note", fields: { title: text() } }), { permission: anyone });
const who = defineEndpoint({
  method: "GET",
  path: "/who",
  access: anyone,
  handle: ({ identity }) => ({
    status: 200,
    body: { kind: "data", value: { username: identity?.username ?? null }, element: "who" },
  }),
});

const open = (t: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<API> =>
  serve(t, { settings, config: { mounts: [note], endpoints: [who] } });

/** Returns the cookies that a login sets, by name. */
async function requestCookies(api: API, path: string, body: unknown, sent: Readonly<Record<string, string>> = {}) {
  const answer = await api.post(path, body, sent);
  const pairs = answer.headers.getSetCookie().map((each) => each.split(";")[0]!);
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair]));
}

function jwt(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "EdDSA", typ: "at+jwt", kid: "x" })}.${part(claims)}.${"A".repeat(86)}`;
}

/** Cookies of other programs on this host that have the names of our cookies. */
const foreign = [
  "session=eyJfcGVybWFuZW50Ijp0cnVlfQ.ZxYw0A.c2lnbmF0dXJl",
  `session=${"a".repeat(42)}`,
  `session=${"a".repeat(44)}`,
  `session=${"a".repeat(42)}+`,
  "session=s%3Aabc",
  "session=é",
  `session=${"a".repeat(8193)}`,
  "access_token=opaque",
  "access_token=a.b.c",
  `access_token=${jwt({ iss: "https://other.example", sub: "1" })}`,
];

/** Cookies that may come from this service, but are no longer valid. */
const stale = [`session=${"a".repeat(43)}`, `access_token=${jwt({ iss: "latchkey", sub: "1" })}`];

test("ignores a cookie that cannot come from this service", async (t) => {
  const api = await open(t);

  for (const cookie of foreign) {
    const needed = await api.get("/protected/", { cookie });
    assert.deepEqual([needed.status, needed.json.code], [401, "not_authenticated"], cookie);
    assert.equal((await api.get("/who", { cookie })).json.username, null, cookie);
    assert.equal((await api.get("/protected/", { ...api.admin, cookie })).json.username, "admin", cookie);
    const root = await api.get("/", { cookie });
    assert.deepEqual([root.json.problem, root.headers.getSetCookie()], [null, []], cookie);
  }
});

test("ignores a rejected cookie, unless the endpoint needs a caller and no other credential identifies one", async (t) => {
  const api = await open(t);
  const { access } = (await api.post("/api/token/", admin)).json;
  const { token } = (await api.post("/users/1/token", {}, api.admin)).json;
  const others = [api.admin, { authorization: `Bearer ${access}` }, { authorization: `Token ${token}` }];

  for (const cookie of [...stale, stale.join("; ")]) {
    assert.equal((await api.get("/who", { cookie })).json.username, null);
    assert.equal((await api.post("/notes", { title: "a" }, { cookie })).status, 201);
    for (const headers of others) {
      assert.equal((await api.get("/protected/", { ...headers, cookie })).json.username, "admin", cookie);
      assert.equal((await api.get("/users/1", { ...headers, cookie })).status, 200, cookie);
    }
    const needed = await api.get("/protected/", { cookie });
    assert.equal(needed.status, 401);
    assert.ok(["invalid_token", "token_not_valid"].includes(needed.json.code), needed.text);
    assert.match(needed.headers.get("www-authenticate")!, /Basic .*Bearer .*Token /);
    assert.deepEqual(needed.headers.getSetCookie(), []);
  }
});

test("uses a valid cookie even if the request also has a rejected one", async (t) => {
  const api = await open(t);
  const session = (await requestCookies(api, "/api/session/", admin))["session"]!;
  const access = (await requestCookies(api, "/api/token/", { ...admin, cookie: true }))["access_token"]!;

  for (const cookie of [`${session}; ${stale[1]}`, `${stale[0]}; ${access}`])
    assert.equal((await api.get("/protected/", { cookie })).json.username, "admin", cookie);
});

test("refuses a request with a rejected credential that is not a cookie, on public endpoints too", async (t) => {
  const api = await open(t);

  for (const headers of [{ authorization: "Bearer x" }, { authorization: "Token x" }])
    for (const cookie of ["", ...stale])
      assert.equal((await api.get("/who", { ...headers, ...(cookie === "" ? {} : { cookie }) })).status, 401);
});

test("clears a rejected cookie only at logout and at `GET /`, and accepts every login that sends one", async (t) => {
  const api = await open(t);
  const cookie = stale.join("; ");
  const site = { "sec-fetch-site": "same-origin" };
  const cleared = ({ headers }: { readonly headers: Headers }): readonly string[] =>
    headers
      .getSetCookie()
      .filter((each) => /=;/.test(each))
      .map((each) => each.split("=")[0]!);

  assert.deepEqual(cleared(await api.get("/", { cookie })).toSorted(), ["access_token", "session"]);
  assert.deepEqual(cleared(await api.delete("/api/session/", { cookie, ...site })), ["session"]);
  for (const path of ["/protected/", "/who", "/users", "/api/session/", "/docs"])
    assert.deepEqual((await api.get(path, { cookie })).headers.getSetCookie(), [], path);
  for (const [path, body] of [
    ["/api/session/", admin],
    ["/api/token/", { ...admin, cookie: true }],
    ["/api-token-auth/", admin],
  ] as const) {
    const answer = await api.post(path, body, { cookie, ...site });
    assert.ok(answer.status < 300, `${path} ${answer.status}`);
    assert.deepEqual(cleared(answer), []);
  }
});

test("shows the caller and the problem of a rejected cookie together at `GET /`", async (t) => {
  const api = await open(t);

  const root = await api.get("/", { ...api.admin, cookie: stale[0]! });

  assert.deepEqual([root.json.caller.username, root.json.problem.code], ["admin", "invalid_token"]);
  assert.match(root.headers.getSetCookie()[0]!, /^session=;/);
  assert.equal(root.headers.get("cache-control"), "no-store");
});

test("counts a forged cookie as a guess only if the request fails because of it", async (t) => {
  const api = await open(t);
  const cookie = stale[1]!;
  const logIn = async (): Promise<number> => (await api.post("/api/session/", admin)).status;

  for (let count = 0; count < 15; count++) assert.equal((await api.get("/who", { cookie })).status, 200);
  assert.equal(await logIn(), 201);
  for (let count = 0; count < 10; count++) assert.equal((await api.get("/protected/", { cookie })).status, 401);

  assert.equal((await api.get("/protected/", { cookie })).status, 429);
  assert.equal((await api.get("/who", { cookie })).status, 200);
});

test("keeps the cookies of two services on one host apart by a prefix", async (t) => {
  const [a, b] = [await open(t), await open(t, { LATCHKEY_COOKIE_PREFIX: "shop-" })];
  const jar: Record<string, string> = {};
  const cookie = (): string => Object.values(jar).join("; ");
  for (const api of [a, b]) {
    Object.assign(jar, await requestCookies(api, "/api/session/", admin));
    Object.assign(jar, await requestCookies(api, "/api/token/", { ...admin, cookie: true }));
  }

  assert.deepEqual(Object.keys(jar).toSorted(), [
    "access_token",
    "refresh_token",
    "session",
    "shop-access_token",
    "shop-refresh_token",
    "shop-session",
  ]);
  for (const api of [a, b]) {
    assert.equal((await api.get("/protected/", { cookie: cookie() })).json.username, "admin");
    const refreshed = await api.post("/api/token/refresh/", {}, { cookie: cookie(), "sec-fetch-site": "same-origin" });
    assert.equal(refreshed.status, 200);
  }
  const ended = await b.delete("/api/session/", { cookie: cookie(), "sec-fetch-site": "same-origin" });
  assert.match(ended.headers.getSetCookie()[0]!, /^shop-session=;/);
  assert.equal((await b.get("/protected/", { cookie: jar["shop-session"]! })).status, 401);
  assert.equal((await a.get("/protected/", { cookie: jar["session"]! })).json.username, "admin");
  const schemes = (await b.get("/openapi.json")).json.components.securitySchemes;
  const names = Object.values(schemes as Record<string, { in?: string; name?: string }>)
    .filter((each) => each.in === "cookie")
    .map(({ name }) => name);
  assert.deepEqual(new Set(names), new Set(["shop-access_token", "shop-session"]));
});

test("puts the cookie prefix of browsers (`__Host-`) before the prefix of the service", async (t) => {
  const api = await open(t, { LATCHKEY_COOKIE_PREFIX: "shop-", LATCHKEY_TRUSTED_PROXIES: "127.0.0.1" });
  const tls = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };

  const session = await requestCookies(api, "/api/session/", admin, tls);
  const tokens = await requestCookies(api, "/api/token/", { ...admin, cookie: true }, tls);

  assert.deepEqual(Object.keys({ ...session, ...tokens }).toSorted(), [
    "__Host-shop-access_token",
    "__Host-shop-session",
    "__Secure-shop-refresh_token",
  ]);
  const cookie = session["__Host-shop-session"]!;
  assert.equal((await api.get("/protected/", { ...tls, cookie })).json.username, "admin");
});
