import assert from "node:assert/strict";
import test from "node:test";
import { basicHeader, serve, type API } from "../harness/serve.ts";

/** A request with many mistakes. The test mends the mistakes one by one. */
interface Wrong {
  method: string;
  path: string;
  headers: [string, string][];
  body: string | undefined;
}

test("reports the first of several mistakes in the documented order (docs/errors.md)", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const bob = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username: bob.email, password: bob.password })).json;
  const login = await api.post("/api/session/", { username: ann.email, password: ann.password });
  const cookie = login.headers.getSetCookie()[0]!.split(";")[0]!;
  const admin = api.admin["authorization"]!;

  const request: Wrong = {
    method: "FROBNICATE",
    path: "/nothing?bogus=1",
    headers: [
      ["Authorization", basicHeader(ann.email, "wrong").authorization],
      ["Authorization", `Bearer ${access}`],
      ["Accept", "image/png"],
      ["Content-Type", "text/plain"],
      ["Content-Length", String(2 ** 20 + 1)],
      ["If-Match", '"stale"'],
    ],
    body: "x".repeat(2 ** 20 + 1),
  };
  const set = (name: string, value: string | null): void => {
    request.headers = request.headers.filter(([each]) => each !== name);
    if (value !== null) request.headers.push([name, value]);
  };
  const steps: readonly (readonly [status: number, code: string, mend: () => void])[] = [
    [404, "not_found", () => (request.path = "/users/999?bogus=1")],
    [405, "method_not_allowed", () => (request.method = "PATCH")],
    [400, "duplicate_credentials", () => set("Authorization", basicHeader(ann.email, "wrong").authorization)],
    [401, "invalid_credentials", () => (set("Authorization", `Bearer ${access}`), set("Cookie", cookie))],
    [400, "conflicting_credentials", () => (set("Authorization", null), set("Sec-Fetch-Site", "cross-site"))],
    [403, "cross_site", () => set("Sec-Fetch-Site", "same-origin")],
    [403, "permission_denied", () => (set("Cookie", null), set("Authorization", admin))],
    [406, "not_acceptable", () => set("Accept", null)],
    [415, "unsupported_media_type", () => set("Content-Type", "application/json")],
    [413, "content_too_large", () => (set("Content-Length", null), (request.body = "{"))],
    [400, "invalid_query", () => (request.path = "/users/999")],
    [400, "malformed", () => (request.body = '{"email":"nobody"}')],
    [400, "invalid", () => (request.body = `{"email":"${bob.email}"}`)],
    [404, "not_found", () => (request.path = `/users/${ann.id}`)],
    [412, "precondition_failed", () => set("If-Match", null)],
    [409, "taken", () => (request.body = '{"email":"free@example.com"}')],
  ];

  for (const [status, code, mend] of steps) {
    const answer = await raw(api, request);
    assert.deepEqual(
      [answer.status, JSON.parse(answer.text).code],
      [status, code],
      `${request.method} ${request.path}: ${answer.text}`,
    );
    mend();
  }

  assert.equal((await raw(api, request)).status, 200);
});

test("checks the body before the record, and the record before preconditions and conflicts, for every method", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const order = (await api.post("/orders", {}, ann.headers)).json.id;
  const stale = { "if-match": '"stale"' };
  const jsonPatch = { "content-type": "application/json-patch+json" };
  const rows: readonly (readonly [
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    status: number,
    code: string,
  ])[] = [
    ["PATCH", "/users/999", { bogus: 1, name: "x" }, {}, 400, "invalid"],
    ["PATCH", "/users/999", { id: 998 }, {}, 400, "invalid"],
    ["PATCH", "/users/999", 5, {}, 400, "invalid"],
    ["PATCH", "/users/999", { op: "add" }, jsonPatch, 400, "invalid_patch"],
    ["PATCH", "/users/999", [{ op: "test", path: "/name", value: "x" }], jsonPatch, 404, "not_found"],
    ["PATCH", "/users/999", { name: "x" }, stale, 404, "not_found"],
    ["PATCH", `/users/${ann.id}`, { email: "bad" }, stale, 400, "invalid"],
    ["PATCH", `/users/${ann.id}`, { password: "password" }, stale, 400, "invalid"],
    [
      "PATCH",
      `/users/${ann.id}`,
      [{ op: "add", path: "/email", value: "bad" }],
      { ...stale, ...jsonPatch },
      400,
      "invalid",
    ],
    [
      "PATCH",
      `/users/${ann.id}`,
      [{ op: "test", path: "/name", value: "x" }],
      { ...stale, ...jsonPatch },
      412,
      "precondition_failed",
    ],
    ["PATCH", `/users/${ann.id}`, { email: "admin@example.invalid" }, stale, 412, "precondition_failed"],
    ["PUT", `/users/${ann.id}`, { name: "x" }, stale, 400, "invalid"],
    ["PUT", "/users/999", { name: "x" }, stale, 400, "invalid"],
    ["PUT", "/users/999", { name: "x", email: "admin@example.invalid" }, stale, 412, "precondition_failed"],
    ["PUT", "/orders/999/items/1", { product: "" }, stale, 400, "invalid"],
    ["PUT", "/orders/999/items/1", { product: "x", quantity: 1, unit_price: "1" }, stale, 404, "not_found"],
    ["POST", "/orders/999/items", { product: "" }, {}, 400, "invalid"],
    ["POST", "/orders/999/items", { product: "x", quantity: 1, unit_price: "1" }, {}, 404, "not_found"],
    ["PATCH", "/orders/999/items/1", { quantity: 0 }, {}, 400, "invalid"],
    ["PATCH", `/orders/${order}/items/1`, { quantity: 0 }, {}, 400, "invalid"],
    ["PATCH", `/orders/${order}/items/1`, { quantity: 1 }, stale, 404, "not_found"],
    ["DELETE", "/users/999", undefined, stale, 404, "not_found"],
    ["DELETE", `/users/${ann.id}`, undefined, stale, 412, "precondition_failed"],
    ["DELETE", `/users/${ann.id}`, undefined, {}, 409, "referenced"],
    ["PATCH", "/users/999/account", { role: "king" }, stale, 400, "invalid"],
    ["PATCH", "/users/999/account", { role: "user" }, stale, 404, "not_found"],
    ["PATCH", `/users/${ann.id}/account`, { role: "king" }, stale, 400, "invalid"],
    ["PATCH", "/users/1/account", { active: false }, stale, 412, "precondition_failed"],
  ];

  for (const [method, path, body, headers, status, code] of rows) {
    const answer = await api.ask(method, path, { body, headers: { ...api.admin, ...headers } });
    assert.deepEqual(
      [answer.status, answer.json.code],
      [status, code],
      `${method} ${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}: ${answer.text}`,
    );
  }
});

async function raw(
  { service }: API,
  { method, path, headers, body }: Wrong,
): Promise<{ status: number; text: string }> {
  const answer = await service.respond({
    method,
    target: path,
    rawHeaders: headers.flat(),
    peer: "127.0.0.1",
    encrypted: false,
    async readBody(maxBytes) {
      const { problem } = await import("../../src/door/index.ts");
      if ((body ?? "").length > maxBytes) throw problem("content_too_large");
      return Buffer.from(body ?? "");
    },
  });
  return { status: answer.status, text: String(answer.content) };
}
