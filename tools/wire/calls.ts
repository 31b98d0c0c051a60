import type { Headers } from "./world.ts";

/** One request that every caller sends. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Headers;
}

const html: Headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-mode": "navigate" };
const xml: Headers = { accept: "application/xml" };
const form: Headers = {
  "content-type": "application/x-www-form-urlencoded",
  "sec-fetch-site": "same-origin",
  origin: "http://localhost:8000",
};
const get = (path: string, headers: Headers = {}): Call => ({ method: "GET", path, headers });
const post = (path: string, body?: unknown, headers: Headers = {}): Call => ({ method: "POST", path, body, headers });

/** Paths that are read in each format. ada is user 2, order 1 is hers. */
const read = [
  "/",
  "/users",
  "/users?limit=1&sort=-name&fields=id,name",
  "/users?name[starts]=a&email=ada@shop.example",
  "/users?search=ada",
  "/users/1",
  "/users/2",
  "/users/99",
  "/users/2/account",
  "/users/1/account",
  "/users/2/sessions",
  "/users/2/factors",
  "/users/3/factors",
  "/users/2/keys",
  "/users/2/token",
  "/users/2/identities",
  "/orders",
  "/orders?expand=items,user&sort=-created_at",
  "/orders/1",
  "/orders/2",
  "/orders/1/items",
  "/orders/1/items/1",
  "/protected/",
  "/api/session/",
  "/api/login/",
  "/api/login/providers/",
] as const;

const wrongReads: readonly Call[] = [
  get("/users?unknown=1"),
  get("/users?limit=0"),
  get("/users?cursor=forged"),
  get("/users?sort=password"),
  get("/orders?expand=nothing"),
  get("/orders.json"),
  get("/users/2", { accept: "image/png" }),
  get("/users/2", { "if-none-match": "*" }),
  get("/orders", { prefer: "count=exact" }),
  get("/orders", { prefer: "handling=strict, foo=bar" }),
  { method: "HEAD", path: "/users/2" },
  { method: "OPTIONS", path: "/users" },
  { method: "OPTIONS", path: "/users/2/factors" },
  { method: "QUERY", path: "/users", body: { where: { any: [{ name: { starts: "a" } }, { id: { gte: 3 } }] } } },
  { method: "QUERY", path: "/orders", body: { where: { status: { like: "o" } } } },
  { method: "QUERY", path: "/orders", body: { where: { status: "open" }, expand: "user", count: "exact" } },
];

/**
 * Changes of users, accounts and records. They come after the reads, in an order in which most of them can succeed for
 * some caller.
 */
const writes: readonly Call[] = [
  post("/users", { name: "Dora", email: "dora@shop.example" }),
  post("/users", { name: "Dora", email: "dora@shop.example", password: "a good pass phrase", username: "dora" }),
  post("/users", { name: "", email: "not an address" }),
  post("/users", { name: "Ed", email: "ed@shop.example", invite: true }),
  post("/users", "{", { "content-type": "application/json" }),
  post("/users", "name=Fay&email=fay%40shop.example", { ...form, ...html }),
  { method: "PUT", path: "/users/50", body: { name: "Gus", email: "gus@shop.example" } },
  { method: "PUT", path: "/users/2", body: { name: "Ada", email: "ada@shop.example" } },
  { method: "PATCH", path: "/users/2", body: { name: "Ada L." } },
  { method: "PATCH", path: "/users/2", body: { password: "a second pass phrase" } },
  { method: "PATCH", path: "/users/2", body: { email: "ada@elsewhere.example" } },
  { method: "PATCH", path: "/users/2", body: { username: "ada2" } },
  { method: "PATCH", path: "/users/2", body: { current_password: "wrong", username: "ada2" } },
  { method: "PATCH", path: "/users/4", body: { password: "a second pass phrase" } },
  { method: "PATCH", path: "/users/4", body: { email: "cleo@elsewhere.example" } },
  { method: "PATCH", path: "/users/3", body: { name: "Ben" }, headers: { "if-match": '"none"' } },
  {
    method: "PATCH",
    path: "/users/2",
    body: [{ op: "replace", path: "/name", value: "Ada" }],
    headers: { "content-type": "application/json-patch+json" },
  },
  {
    method: "PATCH",
    path: "/users/2",
    body: [{ op: "test", path: "/name", value: "nobody" }],
    headers: { "content-type": "application/json-patch+json" },
  },
  { method: "PATCH", path: "/users/2/account", body: { username: "ada3" } },
  { method: "PATCH", path: "/users/2/account", body: { role: "user" } },
  { method: "PATCH", path: "/users/3/account", body: { role: "admin" } },
  { method: "PATCH", path: "/users/4/account", body: { active: false } },
  { method: "PATCH", path: "/users/1/account", body: { role: "user" } },
  post("/users/2/password"),
  post("/users/2/password", { password: "x" }),
  post("/users/2/email", { email: "ada@elsewhere.example" }),
  post("/users/2/email", { email: "ada@elsewhere.example", current_password: "password of a user" }),
  post("/users/2/invitation"),
  post("/users/2/act"),
  post("/users/4/act"),
  post("/users/2/token"),
  post("/users/2/token", { current_password: "password of a user" }),
  post("/users/2/token", undefined, { "idempotency-key": "wire-token-key" }),
  { method: "DELETE", path: "/users/2/token" },
  post("/users/2/keys", { name: "Backup" }),
  post("/users/2/keys", { name: "Backup", scopes: ["read"], expires_in: 3600 }),
  post("/users/2/keys", { name: "" }),
  { method: "DELETE", path: "/users/2/keys/99" },
  post("/users/2/factors", { kind: "totp", label: "Phone" }),
  post("/users/2/factors", { kind: "passkey", label: "Laptop" }),
  post("/users/2/factors", { kind: "unknown", label: "" }),
  post("/users/2/factors/1/confirm", { code: "000000" }),
  post("/users/2/factors/recovery"),
  { method: "DELETE", path: "/users/2/factors/99" },
  post("/users/2/identities", { provider: "company" }),
  post("/users/2/identities", { provider: "unknown" }),
  { method: "DELETE", path: "/users/2/identities/99" },
  { method: "DELETE", path: "/users/2/sessions/99" },
  post("/orders", { status: "open" }),
  post("/orders", { status: "open", user_id: 1 }),
  post("/orders", [{ status: "open" }, { status: "lost" }]),
  post("/orders", [{ status: "open" }, { status: "paid" }]),
  post("/orders", { status: "open" }, { "idempotency-key": "wire-order-key" }),
  post("/orders", { status: "open" }, { "idempotency-key": "wire-order-key" }),
  post("/orders", { status: "paid" }, { "idempotency-key": "wire-order-key" }),
  post("/orders", "<order><status>open</status></order>", { "content-type": "application/xml", ...xml }),
  { method: "PATCH", path: "/orders", body: [{ id: 1, status: "paid" }] },
  { method: "PATCH", path: "/orders/1", body: { status: "cancelled" } },
  { method: "PATCH", path: "/orders/2", body: { status: "cancelled" } },
  { method: "PUT", path: "/orders/1", body: { status: "open" }, headers: { prefer: "return=minimal" } },
  post("/orders/1/items", { product: "Cup", quantity: 1, unit_price: "12.5" }),
  post("/orders/2/items", { product: "Cup", quantity: 1, unit_price: "12.5" }),
  post("/orders/1/items", { product: "", quantity: 0, unit_price: "1.234" }),
  { method: "PATCH", path: "/orders/1/items/1", body: { quantity: 3 } },
  { method: "DELETE", path: "/orders/1/items/1" },
  { method: "DELETE", path: "/orders/2" },
];

/** Calls that ignore the caller's credential. */
const logins: readonly Call[] = [
  post("/api/token/", { username: "ada@shop.example", password: "wrong" }),
  post("/api/token/", { username: "ada@shop.example" }),
  post("/api/token/", "username=ada%40shop.example&password=wrong", {
    "content-type": "application/x-www-form-urlencoded",
  }),
  post("/api/token/refresh/", { refresh: "forged" }),
  post("/api/token/verify/", { token: "forged" }),
  { method: "DELETE", path: "/api/token/", body: { refresh: "forged" } },
  post("/api/session/", { username: "ada@shop.example", password: "wrong" }),
  post("/api/session/", "username=ada%40shop.example&password=wrong", { ...form, ...html }),
  post("/api-token-auth/", { username: "ada@shop.example", password: "wrong" }),
  post("/api/login/", { pending: "unknown", factor: "1", code: "000000" }),
  post("/api/login/factors/", { pending: "unknown", kind: "totp" }),
  post("/api/login/confirm/"),
  post("/api/login/passkey/"),
  post("/api/login/code/", { email: "nobody@shop.example" }),
  post("/api/login/code/", { email: "" }),
  post("/api/password/reset/", { email: "nobody@shop.example" }),
  post("/api/password/reset/confirm/", { token: "forged", password: "a good pass phrase" }),
  post("/api/email/confirm/", { token: "forged", password: "a good pass phrase" }),
  get("/api/login/company/start?next=/orders"),
  get("/api/login/company/start?next=https://evil.example/"),
  get("/api/login/company/callback?code=x&state=y", html),
  get("/.well-known/change-password"),
  { method: "POST", path: "/orders/1", body: {} },
  { method: "DELETE", path: "/users/2/sessions?except=current" },
  { method: "DELETE", path: "/api/session/" },
  { method: "DELETE", path: "/users/2" },
];

/** The requests of one caller: every path in JSON and as a page, some in XML, then every change. */
export const calls: readonly Call[] = [
  ...read.map((path) => get(path)),
  ...read.map((path) => get(path, html)),
  ...["/users", "/users/2", "/orders", "/orders/1/items"].map((path) => get(path, xml)),
  ...["/orders", "/users"].map((path) => get(path, { accept: "text/csv" })),
  ...wrongReads,
  ...writes,
  ...logins,
];
