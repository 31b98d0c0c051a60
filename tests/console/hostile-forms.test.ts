import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { consolePages, rateLimits } from "../../src/door/features.ts";
import {
  anyone,
  authenticated,
  defineEndpoint,
  defineResource,
  mount,
  text,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { ownService, type Own, type OwnAnswer } from "../harness/own-service.ts";

// Nightly on PostgreSQL: the service refuses these forms before it reads the store.

const formType = "application/x-www-form-urlencoded";
const books = defineResource({ name: "book", fields: { title: text({ maxLength: 2_000_000 }) } });

async function serveBooks(
  t: TestContext,
  permission: Permission | Readonly<Record<string, Permission>> = authenticated,
  options: Partial<ServiceOptions> = {},
): Promise<Own> {
  const api = await ownService(t, {
    mounts: [mount(books, { permission })],
    endpoints: [
      defineEndpoint({
        method: "POST",
        path: "/plain",
        access: anyone,
        consumes: ["application/json", formType],
        handle: ({ body }) => ({ status: 200, body: { kind: "data", value: { sent: body?.value }, element: "sent" } }),
      }),
    ],
    features: [consolePages({ title: "Books" })],
    ...options,
  });
  assert.equal((await api.ask("POST", "/books", { as: "ada", body: { title: "Emma" } })).status, 201);
  return api;
}

function post(
  api: Own,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OwnAnswer> {
  const own = { "content-type": formType, accept: "application/json", host: "127.0.0.1", origin: "http://127.0.0.1" };
  return api.ask("POST", path, { as: "ada", body, headers: { ...own, ...headers } });
}

async function isThere(api: Own): Promise<boolean> {
  return (await api.get("/books/1", { as: "ada" })).json?.title === "Emma";
}

const refused: readonly (readonly [body: string, status: number, code: string])[] = [
  ["_method=GET", 400, "invalid"],
  ["_method=POST&title=a", 405, "method_not_allowed"],
  ["_method=delete", 400, "invalid"],
  ["_method=", 400, "invalid"],
  ["_method=OPTIONS", 400, "invalid"],
  ["_method=DELETE%20", 400, "invalid"],
  ["_method=PATCH&_method=DELETE", 400, "invalid"],
  ["_method=DELETE&_method=DELETE", 400, "invalid"],
  ["_Method=DELETE", 405, "method_not_allowed"],
  ["title=a", 405, "method_not_allowed"],
  ["", 405, "method_not_allowed"],
  ["_method=DELETE&_match=abc", 400, "malformed"],
  ["_method=DELETE&_match=", 400, "malformed"],
  ["_method=DELETE&_match=%22a%22&_match=%22b%22", 400, "invalid"],
  ["_method=DELETE&_match=%22a%22%0D%0AX-Visitor:%20root", 400, "malformed"],
  ["_method=PATCH&title=b&_key=short", 400, "malformed"],
  ["_method=PATCH&title=b&_key=long-enough%0D%0A", 400, "malformed"],
  ["_method=PATCH&title=b&_key=", 400, "malformed"],
  ["_method=PATCH&title=a&title=b", 400, "invalid"],
  ["_method=PATCH&titel=b", 400, "invalid"],
  ["_method=PATCH&id=2", 400, "invalid"],
  ["_method=PATCH&__proto__=b", 400, "invalid"],
  ["_method=PATCH&constructor=b", 400, "invalid"],
  ["_method=PATCH&title.zone=UTC&title=b", 400, "invalid"],
  ["_method=PATCH&title=%FF", 400, "malformed"],
  ["_method=PATCH&title=%", 400, "malformed"],
  [`_method=PATCH${"&a=b".repeat(1000)}`, 400, "malformed"],
];

test("refuses forms that name no method, two methods, or wrong members", async (t) => {
  const api = await serveBooks(t);

  for (const [body, status, code] of refused) {
    const answer = await post(api, "/books/1", body);
    assert.deepEqual([answer.status, answer.json?.code], [status, code], body.slice(0, 80));
  }
  assert.ok(await isThere(api));
});

const otherTypes: readonly (readonly [type: string, status: number])[] = [
  ["application/json", 405],
  ["multipart/form-data; boundary=x", 405],
  ["text/plain", 405],
  ["application/x-www-form-urlencoded-x", 405],
  [`${formType}, application/json`, 405],
  [`application/json, ${formType}`, 405],
  [`${formType}; charset=iso-8859-1`, 415],
];

test("takes the method from forms alone: not from JSON, multipart, the query or a header", async (t) => {
  const api = await serveBooks(t);

  for (const [type, status] of otherTypes)
    assert.equal((await post(api, "/books/1", "_method=DELETE", { "content-type": type })).status, status, type);
  assert.equal((await post(api, "/books/1?_method=DELETE", "title=a")).status, 405);
  assert.equal((await post(api, "/books/1", "title=a", { "x-http-method-override": "DELETE" })).status, 405);
  assert.equal((await post(api, "/books/1?_method=DELETE", "_method=DELETE")).status, 400);
  assert.equal((await post(api, "/books/1", "_method=DELETE", { "content-encoding": "gzip" })).status, 415);
  for (const name of ["_method", "_match", "_key"]) {
    const sent = await api.ask("PATCH", "/books/1", { as: "ada", body: { [name]: "DELETE" } });
    assert.deepEqual([sent.status, sent.json.errors[0].code], [400, "unknown_field"], name);
  }
  const plain = await post(api, "/plain", "_method=DELETE&title=a");
  assert.deepEqual(plain.json, { sent: { _method: "DELETE", title: "a" } });
  const typed = `${formType};charset=UTF-8`;
  assert.equal((await post(api, "/books/1", "_method=PATCH&title=Emma", { "content-type": typed })).status, 303);
  assert.ok(await isThere(api));
});

test("refuses a form whose header fields and members both name a state or a key", async (t) => {
  const api = await serveBooks(t);

  const match = await post(api, "/books/1", "_method=DELETE&_match=%22a%22", { "if-match": "*" });
  const key = await post(api, "/books", "title=a&_key=key-of-form", { "idempotency-key": "key-of-header" });

  assert.deepEqual([match.status, key.status], [400, 400]);
  assert.equal((await post(api, "/books/1", "_method=DELETE", { "if-match": '"other"' })).status, 412);
  assert.ok(await isThere(api));
});

test("reads at most 1 MiB of a form", async (t) => {
  const api = await serveBooks(t);
  const fields = "_method=PATCH&title=";

  const most = await post(api, "/books/1", fields + "a".repeat(1024 * 1024 - fields.length));
  const more = await post(api, "/books/1", fields + "a".repeat(1024 * 1024 - fields.length + 1));

  assert.deepEqual([most.status, more.status], [303, 413]);
});

test("asks permissions and scopes for the method of the form", async (t) => {
  const asked: string[] = [];
  const permission: Permission = {
    name: "not deleting",
    decide: ({ action, identity }) => (asked.push(action), identity !== null && action !== "delete" ? "allow" : "deny"),
  };
  const methods: string[] = [];
  const scopesAllow = (_: readonly string[], method: string): boolean => (methods.push(method), method !== "DELETE");
  const api = await serveBooks(t, permission, { scopesAllow });
  asked.length = 0;

  assert.equal((await post(api, "/books/1", "_method=DELETE")).status, 403);
  assert.deepEqual(asked, ["delete"]);
  assert.equal((await post(api, "/books/1", "_method=DELETE", { "x-visitor": "" })).status, 401);
  const limited = await post(api, "/books/1", "_method=DELETE", { "x-visitor": "reader" });
  assert.deepEqual([limited.status, methods], [403, ["DELETE"]]);
  assert.ok(await isThere(api));
});

test("logs and counts the method of the form", async (t) => {
  const limits = [
    { name: "deletions", by: "address", limit: 1, windowSeconds: 60, actions: ["delete"] },
    { name: "posts", by: "address", limit: 1, windowSeconds: 60, at: ["POST /books"] },
    { name: "all", by: "address", limit: 100, windowSeconds: 60 },
  ] as const;
  const api = await serveBooks(t, authenticated, {
    features: [consolePages({ title: "Books" }), rateLimits({ limits, fields: true })],
  });
  const remaining = ({ headers }: OwnAnswer): string => headers.get("ratelimit") ?? "";

  const first = await post(api, "/books/1", "_method=DELETE&_match=%22old%22");
  const second = await post(api, "/books/1", "_method=DELETE");
  const changed = await post(api, "/books/1", "_method=PATCH&title=Emma");

  assert.deepEqual([first.status, second.status, changed.status], [412, 429, 303]);
  // The request that created the book is the first one of all.
  assert.match(remaining(changed), /^"all";r=96;/);
  const logged = api.observed.flatMap((each) => (each.kind === "request" ? [`${each.method} ${each.status}`] : []));
  assert.deepEqual(logged, ["POST 201", "DELETE 412", "DELETE 429", "PATCH 303"]);
});

test("keeps the answers of a service without pages", async (t) => {
  const api = await serveBooks(t, authenticated, { features: [] });

  assert.equal((await post(api, "/books", "title=a")).status, 415);
  assert.equal((await post(api, "/books/1", "_method=DELETE")).status, 405);
});

test("sends the policy for referrers that makes browsers send the origin of a page", async (t) => {
  const api = await serveBooks(t);
  const policy = async (path: string, accept: string): Promise<string | null> =>
    (await api.get(path, { as: "ada", headers: { accept } })).headers.get("referrer-policy");

  for (const path of ["/books", "/books/1", "/books/9"]) {
    assert.equal(await policy(path, "text/html"), "same-origin", path);
    assert.equal(await policy(path, "application/json"), "no-referrer", path);
  }
});
