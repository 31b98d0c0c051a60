import assert from "node:assert/strict";
import test from "node:test";
import { defineEndpoint } from "../../src/door/index.ts";
import { adminPassword, basicHeader, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: the links follow from the declarations.

const login = { username: "admin", password: adminPassword };

test("links to all resources and logins from the start page", async (t) => {
  for (const base of ["", "/api/v1"]) {
    const api = await serve(t, { settings: { LATCHKEY_BASE_PATH: base } });

    for (const headers of [{}, { accept: "application/json" }]) {
      for (const path of base === "" ? ["/"] : [base, `${base}/`]) {
        const answer = await api.get(path, headers);
        assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "application/json"]);
        assert.match(answer.headers.get("link")!, new RegExp(`<${base}/openapi.json>; rel="service-desc"`));
      }
    }
    const { links, caller, problem } = (await api.get(`${base}/`)).json;
    assert.deepEqual([caller, problem], [null, null]);
    assert.deepEqual(links.resources, { users: `${base}/users`, orders: `${base}/orders` });
    assert.deepEqual(links.logins, {
      session: `${base}/api/session/`,
      token: `${base}/api/token/`,
      api_token: `${base}/api-token-auth/`,
    });
    const { resources, logins, ...others } = links;
    for (const path of [...Object.values(resources), ...Object.values(others)])
      assert.equal((await api.get(String(path), api.admin)).status, 200, String(path));
    for (const path of Object.values(logins)) assert.equal((await api.ask("OPTIONS", String(path))).status, 204);
  }
});

test("shows the caller at the start page, in a response that no shared cache stores", async (t) => {
  const api = await serve(t);

  const adminReply = await api.get("/", api.admin);
  const nobody = await api.get("/");

  assert.deepEqual(adminReply.json.caller, {
    user: { id: 1, name: "Administrator", email: adminReply.json.caller.user.email },
    username: "admin",
    role: "admin",
    scheme: "basic",
  });
  for (const { headers } of [adminReply, nobody]) {
    assert.equal(headers.get("cache-control"), "private, no-cache");
    assert.match(headers.get("vary")!, /Accept.*Authorization/);
  }
  assert.notEqual(adminReply.headers.get("etag"), nobody.headers.get("etag"));
  const again = await api.get("/", { ...api.admin, "if-none-match": adminReply.headers.get("etag")! });
  assert.equal(again.status, 304);
  assert.match((await api.get("/?format=xml", api.admin)).text, /<root>.*<username>admin<\/username>/);
  assert.match((await api.get("/?format=html", api.admin)).text, /<summary>.*<bdi>Administrator<\/bdi><\/summary>/);
  assert.equal((await api.get("/?page=2")).status, 400);
});

test("reports and clears a rejected cookie at the start page, and still answers with 200", async (t) => {
  const api = await serve(t);
  const requestCookie = async (path: string, body: unknown): Promise<string> =>
    (await api.post(path, body)).headers.getSetCookie()[0]!.split(";")[0]!;
  const session = await requestCookie("/api/session/", login);
  const access = await requestCookie("/api/token/", { ...login, cookie: true });

  const staleSession = `session=${"a".repeat(43)}`;
  const staleAccess = access.replace(/.{9}$/, "AAAAAAAAA");

  for (const [headers, status, code, cleared] of [
    [{ cookie: session }, null, null, []],
    [{ cookie: access }, null, null, []],
    [{ cookie: "session=another program's" }, null, null, []],
    [{ cookie: staleSession }, 401, "invalid_token", ["session"]],
    [{ cookie: staleAccess }, 401, "token_not_valid", ["access_token"]],
    [{ cookie: `${session}; ${staleAccess}` }, 401, "token_not_valid", ["access_token"]],
    [{ cookie: `${staleSession}; ${access}` }, 401, "invalid_token", ["session"]],
    [{ cookie: "session=a; session=b" }, 400, "duplicate_credentials", []],
    [basicHeader("admin", "wrong"), 401, "invalid_credentials", []],
    [{ authorization: "Bearer nonsense" }, 401, "token_not_valid", []],
  ] as const) {
    const answer = await api.get("/", headers);
    const said = JSON.stringify(headers);

    assert.equal(answer.status, 200, said);
    assert.equal(answer.json.problem?.status ?? null, status, `${said} ${answer.text}`);
    if (status !== 401 || code === "invalid_credentials") assert.equal(answer.json.problem?.code ?? null, code, said);
    // If one of two cookies is rejected, the other cookie identifies the caller.
    const isKnown = "cookie" in headers && (headers.cookie.includes(session) || headers.cookie.includes(access));
    assert.equal(answer.json.caller !== null, isKnown, said);
    assert.deepEqual(
      answer.headers.getSetCookie().map((each) => each.split("=")[0]),
      cleared,
      said,
    );
    if (status !== null) assert.equal(answer.headers.get("cache-control"), "no-store");
  }
});

test("counts guesses at the start page", async (t) => {
  const api = await serve(t);
  for (let count = 0; count < 10; count++) await api.get("/", basicHeader("admin", `wrong ${count}`));

  const right = await api.get("/", api.admin);

  assert.deepEqual([right.status, right.json.caller, right.json.problem.code], [200, null, "too_many_attempts"]);
});

test("serves a custom endpoint at / instead of the start page", async (t) => {
  const own = defineEndpoint({ method: "GET", path: "/", access: "open", handle: () => ({ status: 204 }) });
  const api = await serve(t, { config: { endpoints: [own] } });

  assert.equal((await api.get("/")).status, 204);
});
