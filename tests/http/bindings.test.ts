import assert from "node:assert/strict";
import { test } from "node:test";
import { serve, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: both bindings pass the same calls to the service.

interface Row {
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: "nobody";
  readonly status: number;
}

const xml = { accept: "application/xml" };
// The order matters, because later requests use the records of earlier ones.
const rows: readonly Row[] = [
  {
    title: "a user is made",
    method: "POST",
    path: "/users",
    body: { name: "Ann 😀", email: "ann@example.com" },
    status: 201,
  },
  {
    title: "a user is made by XML",
    method: "POST",
    path: "/users",
    body: "<user><name>Ben</name><email>ben@example.com</email></user>",
    headers: { ...xml, "content-type": "application/xml" },
    status: 201,
  },
  {
    title: "an order with an Idempotency-Key",
    method: "POST",
    path: "/orders",
    body: {},
    headers: { "idempotency-key": "the-first-order" },
    status: 201,
  },
  {
    title: "a replay of the same key",
    method: "POST",
    path: "/orders",
    body: {},
    headers: { "idempotency-key": "the-first-order" },
    status: 201,
  },
  {
    title: "an item",
    method: "POST",
    path: "/orders/1/items",
    body: { product: "Key", quantity: 1, unit_price: "2.5" },
    status: 201,
  },
  {
    title: "a list with links and a count",
    method: "GET",
    path: "/users?limit=1&sort=-name",
    headers: { prefer: "count=exact" },
    status: 200,
  },
  { title: "a list in XML", method: "GET", path: "/users/?name[starts]=An", headers: xml, status: 200 },
  { title: "the head of a list", method: "HEAD", path: "/users?limit=1", status: 200 },
  {
    title: "a user that the client has cached",
    method: "GET",
    path: "/users/2",
    headers: { "if-none-match": "*" },
    status: 304,
  },
  {
    title: "a replacement",
    method: "PUT",
    path: "/users/2",
    body: { name: "Ann", email: "ann@example.com" },
    status: 200,
  },
  {
    title: "a patch",
    method: "PATCH",
    path: "/users/2",
    body: [{ op: "replace", path: "/name", value: "Zoe" }],
    headers: { "content-type": "application/json-patch+json" },
    status: 200,
  },
  {
    title: "a deletion with a stale tag",
    method: "DELETE",
    path: "/users/2",
    headers: { "if-match": '"0"' },
    status: 412,
  },
  { title: "a deletion", method: "DELETE", path: "/users/3", status: 204 },
  { title: "a deleted user", method: "GET", path: "/users/3", status: 404 },
  { title: "an unknown path, in XML", method: "GET", path: "/nowhere/%C3%A4?x=%zz", headers: xml, status: 404 },
  { title: "a method that the path does not have", method: "PUT", path: "/users", body: {}, status: 405 },
  { title: "the methods of a path", method: "OPTIONS", path: "/users/2", as: "nobody", status: 204 },
  {
    title: "no credentials",
    method: "GET",
    path: "/users",
    as: "nobody",
    headers: { "sec-fetch-mode": "cors" },
    status: 401,
  },
  {
    title: "a wrong token",
    method: "GET",
    path: "/protected/",
    as: "nobody",
    headers: { authorization: "Bearer a.b.c", "sec-fetch-mode": "cors" },
    status: 401,
  },
  {
    title: "wrong credentials",
    method: "POST",
    path: "/api/token/",
    as: "nobody",
    body: { username: "admin", password: "wrong" },
    status: 401,
  },
  { title: "wrong fields", method: "POST", path: "/users", body: { name: "", email: "x", colour: 1 }, status: 400 },
  { title: "broken JSON", method: "POST", path: "/users", body: '{"name": "A', status: 400 },
  { title: "no body", method: "POST", path: "/users", status: 400 },
  {
    title: "a body of an unsupported type",
    method: "POST",
    path: "/users",
    body: "a=1",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    status: 415,
  },
  { title: "no acceptable format", method: "GET", path: "/users", headers: { accept: "image/png" }, status: 406 },
  {
    title: "a body that is too large",
    method: "POST",
    path: "/users",
    body: `"${"x".repeat(1024 * 1024)}"`,
    status: 413,
  },
  { title: "a URL that is too long", method: "GET", path: `/users?name=${"x".repeat(8300)}`, status: 414 },
  {
    title: "too many header fields",
    method: "GET",
    path: "/users",
    headers: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x-${at}`, "1"])),
    status: 431,
  },
  { title: "the identity of the caller", method: "GET", path: "/protected/", status: 200 },
  { title: "health", method: "GET", path: "/livez?any=thing", as: "nobody", status: 200 },
  { title: "a page", method: "GET", path: "/problems/not_found", as: "nobody", status: 200 },
];

// The values of these headers depend on the time and the connection, so the test does not compare them.
const OF_THE_CONNECTION = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

async function conversation(api: API): Promise<readonly object[]> {
  const said: object[] = [];
  for (const [at, { title, method, path, body, headers = {}, as, status }] of rows.entries()) {
    // Over a socket, `fetch` would add its own Accept-Encoding. The two bindings would then get different requests.
    const sent = {
      "accept-encoding": "identity",
      "x-request-id": `row-${at}`,
      ...(as === "nobody" ? {} : api.admin),
      ...headers,
    };
    const answered = await api.ask(method, path, { headers: sent, ...(body === undefined ? {} : { body }) });
    // A shared cache may store a public response. So the response has a random request id and not the caller's.
    const isPublic = answered.headers.get("x-request-id") !== `row-${at}`;
    assert.equal(isPublic && status === 200, isPublic, title);
    const fields = [...answered.headers].filter(
      ([name]) => !OF_THE_CONNECTION.has(name) && !(isPublic && name === "x-request-id"),
    );
    said.push({ title, status: answered.status, headers: Object.fromEntries(fields), text: answered.text });
  }
  return said;
}

test("gives the same responses over both bindings", async (t) => {
  const settings = { LATCHKEY_SECRET: "the same secret for both of the bindings" };
  const [viaFetch, viaNode] = await Promise.all([
    serve(t, { settings, binding: "fetch" }).then(conversation),
    serve(t, { settings, binding: "node" }).then(conversation),
  ]);

  assert.deepEqual(
    viaFetch.map((each) => ("status" in each ? each.status : null)),
    rows.map(({ status }) => status),
  );
  for (const [at, each] of viaNode.entries()) assert.deepEqual(each, viaFetch[at], rows[at]!.title);
});
