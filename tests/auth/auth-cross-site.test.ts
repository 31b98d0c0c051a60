import assert from "node:assert/strict";
import { test } from "node:test";
import { arrive } from "../harness/arrive.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const allowed = "https://app.example";
const admin = { username: "admin", password: adminPassword };
const settings = {
  LATCHKEY_ALLOWED_ORIGINS: `${allowed},http://localhost:3000`,
  LATCHKEY_PUBLIC_URL: "https://public.example/api",
};

/**
 * The header fields that a browser sends for a page, and whether that page is allowed. The host of the request is
 * api.example.
 */
const pages: { headers: Readonly<Record<string, string>>; ours: boolean }[] = [
  { headers: {}, ours: true },
  { headers: { "Sec-Fetch-Site": "same-origin" }, ours: true },
  { headers: { "Sec-Fetch-Site": "none" }, ours: true },
  { headers: { "Sec-Fetch-Site": "same-origin", Origin: "https://evil.example" }, ours: true },
  { headers: { Origin: "http://api.example" }, ours: true },
  { headers: { Origin: allowed }, ours: true },
  { headers: { Origin: "https://public.example" }, ours: true },
  { headers: { "Sec-Fetch-Site": "cross-site", Origin: allowed }, ours: true },
  { headers: { "Sec-Fetch-Site": "same-site", Origin: "http://localhost:3000" }, ours: true },
  { headers: { "Sec-Fetch-Site": "cross-site" }, ours: false },
  { headers: { "Sec-Fetch-Site": "same-site" }, ours: false },
  { headers: { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" }, ours: false },
  { headers: { "Sec-Fetch-Site": "same-site", Origin: "https://other.example" }, ours: false },
  { headers: { "Sec-Fetch-Site": "Same-Origin" }, ours: false },
  { headers: { "Sec-Fetch-Site": "" }, ours: false },
  { headers: { Origin: "null" }, ours: false },
  { headers: { Origin: "" }, ours: false },
  { headers: { Origin: "https://api.example" }, ours: false },
  { headers: { Origin: "http://api.example:8000" }, ours: false },
  { headers: { Origin: "https://app.example.evil.example" }, ours: false },
  { headers: { Origin: "https://APP.example" }, ours: false },
  { headers: { Origin: `${allowed}/` }, ours: false },
  { headers: { Origin: "https://public.example/api" }, ours: false },
];

test("accepts requests that read or set a cookie only from allowed pages", async (t) => {
  const api = await serve(t, { settings });

  for (const { headers, ours } of pages) {
    await t.test(`${ours ? "accepts" : "refuses"} ${JSON.stringify(headers)}`, async () => {
      const from = Object.entries(headers);
      const session = await requestCookie(api, "/api/session/");
      const tokens = await requestCookie(api, "/api/token/");
      const calls = [
        { method: "POST", path: "/api/session/", body: admin, status: 201 },
        { method: "POST", path: "/api/token/", body: { ...admin, cookie: true }, status: 200 },
        { method: "POST", path: "/orders", cookie: session, body: {}, status: 201 },
        { method: "PATCH", path: "/users/1", cookie: tokens, body: { name: "Ada" }, status: 200 },
        { method: "DELETE", path: "/users/1/sessions/unknown", cookie: session, status: 404 },
        { method: "POST", path: "/api/token/refresh/", cookie: tokens, status: 200 },
        { method: "DELETE", path: "/api/token/", cookie: tokens, status: 204 },
        { method: "DELETE", path: "/api/session/", cookie: session, status: 204 },
      ];

      for (const { method, path, cookie, body, status } of calls) {
        const answer = await arrive(api, path, {
          method,
          body,
          headers: [...from, ...(cookie === undefined ? [] : [["Cookie", cookie] as const])],
        });

        assert.equal(answer.status, ours ? status : 403, `${method} ${path}`);
        if (ours) continue;
        assert.equal(answer.json.code, "cross_site");
        assert.deepEqual(answer.header("set-cookie"), []);
      }
      const after = await arrive(api, "/protected/", { headers: [["Cookie", session]] });
      assert.equal(after.status, ours ? 401 : 200);
      const refreshed = await arrive(api, "/api/token/refresh/", { method: "POST", headers: [["Cookie", tokens]] });
      assert.equal(refreshed.status, ours ? 401 : 200);
    });
  }
});

test("accepts requests of other sites if they only read, or if no browser adds their credentials automatically", async (t) => {
  const api = await serve(t);
  const session = await requestCookie(api, "/api/session/");
  const from = [
    ["Sec-Fetch-Site", "cross-site"],
    ["Origin", "https://evil.example"],
  ] as const;
  const pair = await arrive(api, "/api/token/", { method: "POST", body: admin, headers: from });
  const authorization = ["Authorization", `Bearer ${pair.json.access}`] as const;

  assert.equal(pair.status, 200);
  assert.equal(
    (await arrive(api, "/orders", { method: "POST", body: {}, headers: [...from, authorization] })).status,
    201,
  );
  for (const method of ["GET", "HEAD"]) {
    const answer = await arrive(api, "/protected/", { method, headers: [...from, ["Cookie", session]] });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.header("access-control-allow-origin"), []);
  }
});

test("refuses requests of another site's page before it checks their media type, body and credentials", async (t) => {
  const api = await serve(t);
  const from = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };

  for (const [body, type] of [
    ["{}", "text/plain"],
    ["{", "application/json"],
    ["username=a", "application/x-www-form-urlencoded"],
    [JSON.stringify(admin), ""],
  ] as const) {
    const reply = await api.post("/api/session/", body, { ...from, "content-type": type });
    assert.deepEqual([reply.status, reply.json.code, reply.headers.get("set-cookie")], [403, "cross_site", null]);
  }
  for (const type of ["text/plain", "multipart/form-data; boundary=x"]) {
    assert.equal((await api.post("/api/session/", JSON.stringify(admin), { "content-type": type })).status, 415);
  }
});

test("lets pages of allowed origins read the response, and no other pages", async (t) => {
  const api = await serve(t, { settings });
  const ask = (origin: string) =>
    arrive(api, "/protected/", {
      headers: [
        ["Origin", origin],
        ["Authorization", api.admin["authorization"]!],
      ],
    });

  const answer = await ask(allowed);
  assert.deepEqual(answer.header("access-control-allow-origin"), [allowed]);
  assert.deepEqual(answer.header("access-control-allow-credentials"), ["true"]);
  assert.match(answer.header("vary").join(), /\bOrigin\b/);
  for (const origin of ["https://evil.example", "null", "*", "https://public.example", `${allowed}:443`]) {
    const other = await ask(origin);
    assert.equal(other.status, 200);
    assert.deepEqual(other.header("access-control-allow-origin"), []);
    assert.match(other.header("vary").join(), /\bOrigin\b/);
  }
  const refused = await arrive(api, "/protected/", { headers: [["Origin", allowed]] });
  assert.deepEqual([refused.status, refused.header("access-control-allow-origin")], [401, [allowed]]);
});

test("lets apps and browser extensions log in, although their origins have schemes other than https", async (t) => {
  const origins = ["tauri://localhost", "capacitor://localhost", "safari-web-extension://7D3C1E0B-9A44-4E0F-8B55"];
  const api = await serve(t, { settings: { LATCHKEY_ALLOWED_ORIGINS: origins.join(",") } });
  const logIn = (origin: string) =>
    api.post("/api/token/", { ...admin, cookie: true }, { origin, "sec-fetch-site": "cross-site" });

  for (const origin of origins) {
    const { status, headers } = await logIn(origin);
    assert.deepEqual([status, headers.get("access-control-allow-origin")], [200, origin]);
  }
  for (const origin of ["tauri://localhost:1", "Capacitor://localhost", "null"])
    assert.equal((await logIn(origin)).json.code, "cross_site", origin);
});

test("allows every name of a header field that is a token in a preflight", async (t) => {
  const api = await serve(t, { settings });
  const allow = async (...lines: readonly string[]) => {
    const asked = lines.map((line) => ["Access-Control-Request-Headers", line] as const);
    const headers = [["Origin", allowed], ["Access-Control-Request-Method", "POST"], ...asked] as const;
    return (await arrive(api, "/users", { method: "OPTIONS", headers })).header("access-control-allow-headers");
  };

  for (const name of ["x_tenant", "x.tenant", "!#$%&'*+-.^_`|~9z", "X-Tenant"]) {
    assert.deepEqual(await allow(name), [name]);
    assert.deepEqual(await allow(`content-type,${name}`), [`content-type, ${name}`]);
  }
  assert.deepEqual(await allow("x_a", "x-b , ,x.c"), ["x_a, x-b, x.c"]);
  for (const name of ["x tenant", "x(tenant)", "x:tenant", "größe", ""]) assert.deepEqual(await allow(name), []);
});

test("answers a preflight, which has no credentials, with permissions for allowed origins only", async (t) => {
  const api = await serve(t, { settings });
  const preflight = (origin: string) =>
    arrive(api, "/users", {
      method: "OPTIONS",
      headers: [
        ["Origin", origin],
        ["Access-Control-Request-Method", "POST"],
        ["Access-Control-Request-Headers", "authorization,content-type,idempotency-key"],
      ],
    });

  const answer = await preflight(allowed);
  assert.equal(answer.status, 204);
  assert.deepEqual(answer.header("access-control-allow-origin"), [allowed]);
  assert.match(answer.header("access-control-allow-methods")[0]!, /\bPOST\b/);
  assert.match(answer.header("access-control-allow-headers")[0]!, /authorization.*content-type.*idempotency-key/i);
  const other = await preflight("https://evil.example");
  assert.equal(other.status, 204);
  for (const name of ["origin", "methods", "headers", "credentials"])
    assert.deepEqual(other.header(`access-control-allow-${name}`), []);
  const off = await arrive(await serve(t), "/users", {
    method: "OPTIONS",
    headers: [
      ["Origin", allowed],
      ["Access-Control-Request-Method", "POST"],
    ],
  });
  assert.deepEqual(off.header("access-control-allow-origin"), []);
});

async function requestCookie(api: API, path: string): Promise<string> {
  const answer = await arrive(api, path, {
    method: "POST",
    body: path === "/api/token/" ? { ...admin, cookie: true } : admin,
  });
  return answer
    .header("set-cookie")
    .map((each) => each.split(";")[0]!)
    .join("; ");
}
