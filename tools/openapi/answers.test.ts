import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startService, type ServiceProcess } from "../../tests/harness/service-process.ts";
import { readDescription, type Description, type Operation } from "./description.ts";

// Checks that the responses of the running service match its document: each operation is called, as the administrator
// and anonymously.

/** The requests, in an order in which each record is created before another request needs it. */
const requests: readonly (readonly [line: string, status: number, body?: unknown])[] = [
  ["POST /users", 201, { name: "Ann", email: "ann@example.com", password: "a long enough one" }],
  ["GET /users", 200],
  ["QUERY /users", 200, {}],
  ["GET /users/2", 200],
  ["PUT /users/2", 200, { name: "Anne", email: "ann@example.com" }],
  ["PATCH /users/2", 200, { name: "Ann" }],
  ["GET /users/2/account", 200],
  ["PATCH /users/2/account", 200, { active: true }],
  ["POST /api/session/", 201, { username: "ann@example.com", password: "a long enough one" }],
  ["GET /api/session/", 200],
  ["POST /api/session/end/", 204, {}],
  ["DELETE /api/session/", 204],
  ["GET /users/2/sessions", 200],
  ["DELETE /users/2/sessions/{session_id}", 204],
  ["DELETE /users/2/sessions", 204],
  ["GET /api/login/", 401],
  ["POST /api/login/", 401, { pending: "unknown", factor: "1", code: "123456" }],
  ["POST /api/login/factors/", 401, { pending: "unknown", kind: "totp" }],
  ["POST /api/login/confirm/", 403],
  ["POST /api/login/passkey/", 200],
  ["GET /users/2/factors", 200],
  ["POST /users/2/factors", 403, { kind: "totp" }],
  ["POST /users/2/factors/1/confirm", 403, { code: "123456" }],
  ["POST /users/2/factors/recovery", 403],
  ["DELETE /users/2/factors/1", 404],
  ["POST /users/2/act", 201],
  ["POST /users/2/token", 201],
  ["POST /users/2/token", 200],
  ["GET /users/2/token", 200],
  ["DELETE /users/2/token", 204],
  ["POST /users/2/keys", 201, { name: "nightly", scopes: ["orders:read"] }],
  ["GET /users/2/keys", 200],
  ["GET /users/2/keys/{key_id}", 200],
  ["DELETE /users/2/keys/{key_id}", 204],
  ["POST /api-token-auth/", 200, { username: "ann@example.com", password: "a long enough one" }],
  ["POST /api/token/", 200, { username: "ann@example.com", password: "a long enough one" }],
  ["POST /api/token/verify/", 200, { token: "{access}" }],
  ["POST /api/token/refresh/", 200, { refresh: "{refresh}" }],
  ["DELETE /api/token/", 204, { refresh: "{refresh}" }],
  ["POST /orders", 201, { user_id: 2 }],
  ["GET /orders", 200],
  ["QUERY /orders", 200, { where: { not: { status: { eq: "paid" } } }, limit: 2 }],
  ["PATCH /orders", 200, [{ id: 1, status: "open" }]],
  ["GET /orders/1", 200],
  ["PUT /orders/1", 200, { user_id: 2, status: "paid" }],
  ["PATCH /orders/1", 200, { status: "open" }],
  ["POST /orders/1/items", 201, { product: "Key", quantity: 1, unit_price: "1" }],
  ["PATCH /orders/1/items", 200, [{ id: 1, quantity: 1 }]],
  ["GET /orders/1/items", 200],
  ["QUERY /orders/1/items", 200, { where: { any: [{ quantity: { gt: 1 } }] }, count: "exact" }],
  ["GET /orders/1/items/1", 200],
  ["PUT /orders/1/items/1", 200, { product: "Key", quantity: 2, unit_price: "1" }],
  ["PUT /orders/1/items/7", 201, { product: "Key", quantity: 2, unit_price: "1" }],
  ["PATCH /orders/1/items/1", 200, { quantity: 3 }],
  ["DELETE /orders/1/items/1", 204],
  ["DELETE /orders/1", 204],
  ["DELETE /users/1", 409],
  // Comes late, because it replaces the password of the logins above.
  ["POST /users/2/password", 201],
  ["DELETE /users/2", 204],
  ["GET /protected/", 200],
  ["GET /", 200],
  ["GET /livez", 200],
  ["GET /readyz", 200],
  ["GET /metrics", 200],
  ["GET /.well-known/jwks.json", 200],
  ["GET /openapi.json", 200],
  ["GET /docs", 200],
  ["GET /docs/listUsers", 200],
  ["GET /problems", 200],
  ["GET /problems/taken", 200],
  ["GET /.well-known/change-password", 303],
];

let service: ServiceProcess;
let description: Description;
/** Values of earlier responses, for `{name}` in later requests. */
const answered: Record<string, string> = {};
const coveredOperations = new Set<string>();

before(async () => {
  service = await startService();
  description = await readDescription(service.address);
});

after(() => service[Symbol.asyncDispose]());

for (const [line, expected, sent] of requests) {
  test(`answers ${line} with ${expected}, as described`, async () => {
    const [method = "", target = ""] = filled(line).split(" ");
    const operation = description.find(method, target);
    coveredOperations.add(`${method} ${operation.template}`);
    const adminHeaders = { authorization: `Basic ${Buffer.from(`admin:${service.password}`).toString("base64")}` };

    assert.equal(await compare(operation, target, sent, adminHeaders), expected);
    if (method === "GET")
      assert.equal(await compare(operation, target, sent, { ...adminHeaders, accept: "application/xml" }), expected);
    const admitsNobody = operation.security.every((each) => Object.keys(each as object).length > 0);
    if (operation.security.length > 0)
      assert.equal(await compare(operation, target, sent, {}), admitsNobody ? 401 : expected);
  });
}

test("calls every operation of the document, except for the pages for people", () => {
  // Leaves out the pages for people, because tests/console tests them and the URL of one contains the version.
  const pages = ["/login", "/login/factor", "/signup", "/forgot", "/reset", "/verify", "/invitation"];
  const all = description.operations
    .filter(({ template }) => !template.startsWith("/console/") && !pages.includes(template))
    .map(({ method, template }) => `${method} ${template}`);

  assert.deepEqual([...coveredOperations].toSorted(), all.toSorted());
});

async function compare(
  operation: Operation,
  target: string,
  sent: unknown,
  headers: Record<string, string>,
): Promise<number> {
  const body = sent === undefined ? {} : { body: filled(JSON.stringify(sent)) };
  const type = sent === undefined ? {} : { "content-type": "application/json" };
  const { method } = operation;
  const headed = { method, headers: { ...type, ...headers }, ...body };
  const response = await fetch(service.address + target, { ...headed, redirect: "manual" });
  remember(await description.check(operation, response));
  return response.status;
}

function filled(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (all, name: string) => answered[name] ?? all);
}

function remember(body: unknown): void {
  const { access, refresh, key, id, [0]: first } = (body ?? {}) as Partial<Record<string, string>> & { 0?: Listed };
  if (access !== undefined) answered["access"] = access;
  if (refresh !== undefined) answered["refresh"] = refresh;
  if (key !== undefined) answered["key_id"] = String(id);
  if (first?.current !== undefined) answered["session_id"] = first.id;
}

interface Listed {
  readonly id: string;
  /** Only sessions have it. */
  readonly current?: boolean;
}
