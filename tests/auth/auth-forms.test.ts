import assert from "node:assert/strict";
import { test } from "node:test";
import { adminPassword, serve, type Answered, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: credentials are read from a request before the store is asked.

const form = { "content-type": "application/x-www-form-urlencoded" };
const right = `username=admin&password=${adminPassword}`;
const logins = ["/api/token/", "/api/session/", "/api-token-auth/"];
// Includes `Host`, because the service compares it with the origin, and a Fetch `Request` does not add it.
const page = { host: "127.0.0.1:8000", "sec-fetch-site": "same-origin", origin: "http://127.0.0.1:8000" };
const html = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

function send(
  api: API,
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answered> {
  return api.ask("POST", path, { body, headers: { ...form, ...headers } });
}

test("accepts a form from a program at every login", async (t) => {
  const api = await serve(t);

  for (const path of logins) {
    const answer = await send(api, path, right);
    const asJSON = await api.post(path, { username: "admin", password: adminPassword });
    assert.equal(answer.status, asJSON.status, path);
    assert.deepEqual(Object.keys(answer.json), Object.keys(asJSON.json));
    assert.equal((await send(api, path, `${right}x`)).json.code, "invalid_credentials");
  }
  const cookies = await send(api, "/api/token/", `${right}&cookie=true`);
  assert.deepEqual(Object.keys(cookies.json), ["token_type", "expires_in"]);
});

test("reads a form in any valid percent-encoding, and refuses malformed forms, unknown fields and other charsets", async (t) => {
  const api = await serve(t);
  const password = "pässword + 100% & = ;";
  const email = "ann+1@example.com";
  await api.post("/users", { name: "Ann", email, password }, api.admin);
  const log = async (body: string | Uint8Array) => {
    const { status, json } = await send(api, "/api-token-auth/", body);
    return `${status} ${json.code ?? ""}`.trim();
  };

  const written = new URLSearchParams({ username: email, password }).toString();
  for (const body of [written, `&${written}&&`, written.replaceAll("+", "%20"), written.replace("%C3%A4", "ä")])
    assert.equal(await log(body), "200", body);
  for (const body of [
    "",
    "username=a&username=a&password=b",
    "username=a&%75sername=a&password=b",
    "username=%",
    "username=%zz&password=b",
    "username=%c3&password=b",
    "username=%ed%a0%80&password=b",
    Buffer.from("username=\xff&password=b", "latin1"),
    Array.from({ length: 101 }, (_, at) => `f${at}=`).join("&"),
  ])
    assert.equal(await log(body), "400 malformed", String(body).slice(0, 40));
  for (const body of [
    "&",
    "username",
    "username=a",
    "username=a&password=b&other=c",
    "__proto__=a&username=b",
    "toString=a",
  ])
    assert.equal(await log(body), "400 invalid", body);
  assert.equal((await send(api, "/users", "name=Ben&email=b@example.com", api.admin)).status, 415);
  assert.equal(
    (await send(api, "/api/token/", right, { "content-type": `${form["content-type"]}; charset=latin1` })).status,
    415,
  );
});

test("refuses a browser's form at the login for a token pair", async (t) => {
  const api = await serve(t);

  for (const headers of [page, { origin: "null" }, { "sec-fetch-site": "none" }, { "sec-fetch-site": "cross-site" }]) {
    const refused = await send(api, "/api/token/", right, headers);
    assert.deepEqual([refused.status, refused.headers.get("accept-post")], [415, "application/json"]);
  }
});

test("prevents a page of another site from making its visitors guess passwords", async (t) => {
  const api = await serve(t);

  assert.equal((await send(api, "/api-token-auth/", right, page)).status, 200);
  for (const headers of [{ origin: "null" }, { origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }])
    for (const body of [right, `${right}x`])
      assert.equal((await send(api, "/api-token-auth/", body, headers)).json.code, "cross_site");
});

test("starts a session for a form of the service's own page, and redirects back to that page", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_ALLOWED_ORIGINS: "https://app.example" } });
  const log = (headers: Record<string, string>, next?: string) =>
    send(api, "/api/session/", right + (next === undefined ? "" : `&next=${encodeURIComponent(next)}`), headers);

  const back = await log({ ...page, ...html, referer: "http://127.0.0.1:8000/users?limit=2#top" });
  assert.deepEqual([back.status, back.headers.get("location"), back.text], [303, "/users?limit=2", ""]);
  assert.match(back.headers.get("set-cookie")!, /^session=/);
  assert.equal(back.headers.get("cache-control"), "no-store");
  assert.equal((await log({ ...page, accept: "text/html" })).status, 303);
  for (const headers of [page, { ...page, accept: "application/json" }, {}]) {
    const created = await log(headers);
    assert.deepEqual([created.status, created.headers.get("location")], [201, null]);
    assert.deepEqual(Object.keys(created.json), ["user", "expires_at"]);
  }
  const byScript = await api.post(
    "/api/session/",
    { username: "admin", password: adminPassword },
    { ...page, ...html },
  );
  assert.equal(byScript.status, 201);

  const ofOthers = { origin: "https://app.example", "sec-fetch-site": "cross-site" };
  assert.equal((await api.post("/api/session/", { username: "admin", password: adminPassword }, ofOthers)).status, 201);
  for (const headers of [
    ofOthers,
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "same-site" },
  ])
    assert.equal((await log({ ...headers, ...html })).status, 403);
});

test("redirects to no other site", async (t) => {
  const api = await serve(t);
  const target = async (next: string, referer = "https://evil.example/"): Promise<string | null> => {
    const answer = await send(api, "/api/session/", `${right}&next=${encodeURIComponent(next)}`, {
      ...page,
      ...html,
      referer,
    });
    return answer.headers.get("location");
  };

  for (const [next, expected] of [
    ["/users/1", "/users/1"],
    ["users?limit=1", "/users?limit=1"],
    ["http://127.0.0.1:8000/docs", "/docs"],
    ["/a/../docs#x", "/docs"],
    ["https://evil.example/docs", "/"],
    ["//evil.example", "/"],
    ["///evil.example", "/"],
    ["/\\evil.example", "/"],
    ["\\\\evil.example", "/"],
    ["/\t/evil.example", null],
    ["/.//evil.example", "/"],
    ["/a/..//evil.example", "/"],
    ["http:evil.example", "/evil.example"],
    ["http://127.0.0.1:8000@evil.example/", "/"],
    ["http://127.0.0.1:8000//evil.example/", "/"],
    ["http://here.invalid//evil.example", "/"],
    ["blob:http://here.invalid/evil.example", "/"],
    ["javascript:alert(1)", "/"],
    ["data:text/html,x", "/"],
    ["/ö", "/%C3%B6"],
  ] as const)
    assert.equal(await target(next), expected, next);
  assert.equal(await target("https://evil.example", "http://127.0.0.1:8000/docs"), "/docs");
});

test("logs out by a form of the service's own page without a script, but not by a form of another origin", async (t) => {
  const api = await serve(t, { settings: { LATCHKEY_ALLOWED_ORIGINS: "https://app.example" } });
  const logIn = async (): Promise<string> =>
    (await send(api, "/api/session/", right, page)).headers.get("set-cookie")!.split(";")[0]!;
  const isIn = async (cookie: string): Promise<boolean> => (await api.get("/api/session/", { cookie })).status === 200;
  const logOut = (cookie: string, headers: Record<string, string>, body = "next=%2Fdocs") =>
    send(api, "/api/session/end/", body, { cookie, ...headers });

  const cookie = await logIn();
  for (const headers of [
    { origin: "https://app.example", "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "same-site" },
  ]) {
    assert.equal((await logOut(cookie, { ...headers, ...html })).status, 403);
    assert.equal((await logOut(cookie, headers, "")).json.code, "cross_site");
  }
  assert.equal((await logOut(cookie, { ...page, ...html }, "next=/&next=/")).status, 400);
  assert.equal((await api.get("/api/session/end/", { cookie })).status, 405);
  assert.equal(await isIn(cookie), true);

  const left = await logOut(cookie, { ...page, ...html });
  assert.deepEqual([left.status, left.headers.get("location"), left.text], [303, "/docs", ""]);
  assert.match(left.headers.get("set-cookie")!, /^session=; .*Max-Age=0/);
  assert.equal(left.headers.get("cache-control"), "no-store");
  assert.equal(await isIn(cookie), false);
  // A second logout is no error and redirects to no other site. A program gets 204 instead of a redirect.
  assert.equal((await logOut(cookie, { ...page, ...html }, "next=https://evil.example")).headers.get("location"), "/");
  assert.equal((await send(api, "/api/session/end/", "", { ...page, ...html })).status, 303);
  const asProgram = await logOut(await logIn(), {}, "");
  assert.deepEqual([asProgram.status, asProgram.headers.get("location")], [204, null]);
  assert.equal((await api.post("/api/session/end/", { next: "/" }, { cookie: await logIn() })).status, 204);
  assert.equal((await logOut(`${cookie}; session=other`, page)).json.code, "duplicate_credentials");
});
