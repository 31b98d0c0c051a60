import assert from "node:assert/strict";
import test from "node:test";
import { serve } from "../harness/serve.ts";

const notIds = [
  "0",
  "01",
  "-1",
  "+1",
  "1.0",
  "1e3",
  "abc",
  "%201",
  "9007199254740992",
  "99999999999999999999",
  "1/2/3",
  "１",
  "0x1",
];

test("answers a path with and without a final slash in the same way, and answers 404 to a record's path without a valid id", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const order = (await api.post("/orders/", {}, ann.headers)).json.id;
  const item = (
    await api.post(`/orders/${order}/items/`, { product: "Key", quantity: 1, unit_price: "1" }, ann.headers)
  ).json.id;

  for (const path of [
    "/users",
    `/users/${ann.id}`,
    `/users/${ann.id}/account`,
    "/orders",
    `/orders/${order}`,
    `/orders/${order}/items`,
    `/orders/${order}/items/${item}`,
    "/protected",
    "/livez",
  ]) {
    const [without, withSlash] = [await api.get(path, ann.headers), await api.get(`${path}/`, ann.headers)];
    assert.deepEqual([withSlash.status, withSlash.text], [200, without.text], path);
    assert.equal((await api.get(`${path}//`, ann.headers)).status, 404, path);
  }
  for (const id of notIds) {
    assert.equal((await api.get(`/users/${id}`, api.admin)).status, 404, id);
    assert.equal((await api.get(`/users/${id}`)).status, 404, id);
    assert.equal((await api.put(`/orders/${id}`, {}, api.admin)).status, 404, id);
    assert.equal((await api.get(`/orders/${order}/items/${id}`, api.admin)).status, 404, id);
  }
  for (const path of [
    "/Users",
    "/users/1/nothing",
    "/users;x",
    "/users/%zz",
    "/api/token/nothing",
    "//users",
    "/users/%2F",
    "/users%2F1",
  ]) {
    assert.equal((await api.get(path, api.admin)).json.code, "not_found", path);
  }
});

test("names the same methods in 405 and OPTIONS", async (t) => {
  const api = await serve(t);
  const all = "GET, HEAD, QUERY, POST, PUT, PATCH, DELETE, OPTIONS";
  const json = "application/json, application/xml";
  const several = "application/merge-patch+json, application/json";
  const patch = "application/merge-patch+json, application/json-patch+json, application/json, application/xml";
  const rows: readonly (readonly [path: string, allow: string, post: string | null, patch: string | null])[] = [
    ["/users", "GET, HEAD, QUERY, POST, OPTIONS", json, null],
    ["/users/7", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS", null, patch],
    ["/users/7/account", "GET, HEAD, PATCH, OPTIONS", null, patch],
    ["/orders/", "GET, HEAD, QUERY, POST, PATCH, OPTIONS", json, several],
    ["/orders/7/", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS", null, patch],
    ["/orders/7/items", "GET, HEAD, QUERY, POST, PATCH, OPTIONS", json, several],
    ["/orders/7/items/7", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS", null, patch],
    ["/protected/", "GET, HEAD, OPTIONS", null, null],
    ["/livez", "GET, HEAD, OPTIONS", null, null],
    ["/api/token/", "POST, DELETE, OPTIONS", "application/json, application/x-www-form-urlencoded", null],
  ];

  for (const [path, allow, acceptPost, acceptPatch] of rows) {
    const options = await api.ask("OPTIONS", path, { headers: { authorization: "Basic nonsense" } });
    assert.deepEqual([options.status, options.text], [204, ""], path);
    assert.equal(options.headers.get("allow"), allow, path);
    assert.equal(options.headers.get("accept-post"), acceptPost, path);
    assert.equal(options.headers.get("accept-patch"), acceptPatch, path);
    for (const method of [...all.split(", "), "FROBNICATE", "SEARCH"].filter(
      (each) => !allow.split(", ").includes(each),
    )) {
      const refused = await api.ask(method, path);
      assert.deepEqual([method, refused.status, refused.headers.get("allow")], [method, 405, allow], path);
    }
  }
  assert.equal((await api.ask("OPTIONS", "/nothing")).status, 404);
});

test("uses the method of the request line, and ignores overrides in a header field", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  for (const header of ["x-http-method-override", "x-http-method", "x-method-override"]) {
    const answer = await api.get(`/users/${ann.id}`, { ...api.admin, [header]: "DELETE" });
    assert.equal(answer.status, 200);
  }
  const posted = await api.post("/users?_method=DELETE", {}, { ...api.admin, "x-http-method-override": "GET" });

  assert.equal(posted.json.code, "invalid_query");
  assert.equal((await api.get(`/users/${ann.id}`, api.admin)).status, 200);
});

test("answers HEAD with the header fields of GET and without a body", async (t) => {
  const api = await serve(t, { binding: "node" });
  const ann = await api.user("Ann");
  const paths = [
    "/users",
    `/users/${ann.id}`,
    "/users/999",
    "/users?bogus=1",
    `/users/${ann.id}/account`,
    "/protected/",
    "/livez",
    "/openapi.json",
    "/nothing",
    "/users?fields=id",
  ];

  for (const path of paths) {
    for (const more of [{}, { accept: "application/xml" }, { accept: "image/png" }, { "if-none-match": "*" }]) {
      const headers = { ...api.admin, ...more, "x-request-id": "same" };
      const [get, head] = [await api.ask("GET", path, { headers }), await api.ask("HEAD", path, { headers })];
      assert.deepEqual([head.status, head.text], [get.status, ""], path);
      assert.deepEqual(shown(head.headers), shown(get.headers), path);
    }
  }
});

test("sends Cache-Control, Vary, X-Request-Id and the security header fields in every response", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const asks: readonly (readonly [method: string, path: string, options: Parameters<typeof api.ask>[2]])[] = [
    ["GET", "/users", { headers: ann.headers }],
    ["GET", "/users", {}],
    ["GET", `/users/${ann.id}`, { headers: { ...ann.headers, accept: "application/xml" } }],
    ["GET", `/users/${ann.id}`, { headers: { ...ann.headers, "if-none-match": "*" } }],
    ["GET", "/users/1", { headers: ann.headers }],
    ["GET", "/users/999", { headers: api.admin }],
    ["GET", "/nothing", {}],
    ["FROBNICATE", "/users", {}],
    ["GET", "/users", { headers: { ...ann.headers, accept: "image/png" } }],
    ["GET", `/users/${"x".repeat(9000)}`, {}],
    ["POST", "/users", { headers: api.admin, body: { name: "Eve", email: "eve@example.com" } }],
    ["POST", "/users", { headers: { ...api.admin, "content-type": "text/plain" }, body: "x" }],
    ["POST", "/users", { headers: api.admin, body: "x".repeat(2 ** 20 + 1) }],
    ["PUT", `/users/${ann.id}`, { headers: api.admin, body: { name: "Ann", email: "ann@example.com" } }],
    ["PATCH", `/users/${ann.id}`, { headers: api.admin, body: { name: "" } }],
    ["DELETE", `/users/${ann.id}`, { headers: api.admin }],
    ["GET", "/protected/", { headers: api.admin }],
  ];

  for (const [method, path, options] of asks) {
    const { status, headers } = await api.ask(method, path, {
      ...options,
      headers: { ...options?.headers, "x-request-id": "mine-1" },
    });
    const said = `${method} ${path.slice(0, 40)} ${status}`;
    assert.notEqual(status, 500, said);
    assert.equal(headers.get("cache-control"), status >= 400 ? "no-store" : "private, no-cache", said);
    assert.equal(
      headers.get("vary"),
      method === "GET" && path === "/users" && status < 400
        ? "Accept, Authorization, Cookie, Prefer"
        : "Accept, Authorization, Cookie",
      said,
    );
    assert.equal(headers.get("x-request-id"), "mine-1", said);
    assert.equal(headers.get("x-content-type-options"), "nosniff", said);
    assert.equal(headers.get("referrer-policy"), "no-referrer", said);
    assert.match(headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/, said);
    if (status < 300 && status !== 204) assert.match(headers.get("etag") ?? "", /^"[^"]+"$/, said);
  }
});

function shown(headers: Headers): readonly (readonly [string, string])[] {
  // Leaves out the header fields that differ between two requests: the date, the fields of the connection, and the id
  // of a public response.
  return [...headers].filter(
    ([name, value]) =>
      !["date", "connection", "keep-alive"].includes(name) && (name !== "x-request-id" || value === "same"),
  );
}
