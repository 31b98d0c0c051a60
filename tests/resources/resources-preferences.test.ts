import assert from "node:assert/strict";
import test from "node:test";
import { adminPassword, serve } from "../harness/serve.ts";

test("leaves the record out of the response to a write for return=minimal", async (t) => {
  const api = await serve(t);
  const minimal = { ...api.admin, prefer: "return=minimal" };
  const item = { product: "Key", quantity: 1, unit_price: "1" };

  for (const [method, path, body, status] of [
    ["POST", "/orders", {}, 201],
    ["PATCH", "/orders/1", { status: "paid" }, 204],
    ["PUT", "/orders/1", { status: "open" }, 204],
    ["POST", "/orders/1/items", item, 201],
    ["PUT", "/orders/1/items/1", item, 204],
    ["PUT", "/users/50", { name: "Ann", email: "ann@example.com" }, 201],
    ["PATCH", "/users/50", { name: "Bea" }, 204],
    ["PATCH", "/users/50/account", { username: "bea" }, 204],
    ["DELETE", "/orders/1/items/1", undefined, 204],
  ] as const) {
    const answer = await api.ask(method, path, { body, headers: minimal });

    assert.deepEqual([answer.status, answer.text], [status, ""], `${method} ${path}: ${answer.text}`);
    assert.equal(answer.headers.get("preference-applied"), "return=minimal");
    assert.equal(answer.headers.get("content-type"), null);
    if (method === "DELETE") continue;
    const at = answer.headers.get("location") ?? path;
    assert.equal((await api.get(at, api.admin)).headers.get("etag"), answer.headers.get("etag"));
  }
});

test("sends or leaves out the record by the Prefer field of the repeated request, not of the first request", async (t) => {
  const api = await serve(t);
  const key = { ...api.admin, "idempotency-key": "one-order" };

  const first = await api.post("/orders", {}, { ...key, prefer: "return=minimal" });
  const again = await api.post("/orders", {}, { ...key, prefer: "return=representation" });

  assert.deepEqual([first.status, first.text, again.status, again.json.id], [201, "", 201, 1]);
  assert.equal(again.headers.get("idempotency-replayed"), "true");
  assert.equal(again.headers.get("preference-applied"), "return=representation");
});

test("names only applied preferences in Preference-Applied", async (t) => {
  const api = await serve(t);
  const login = { username: "admin", password: adminPassword };

  for (const [method, path, body, prefer, applied] of [
    ["GET", "/users", undefined, "count=exact", "count=exact"],
    ["GET", "/users", undefined, "handling=strict, count=exact", "handling=strict, count=exact"],
    ["GET", "/users", undefined, "handling=lenient; x=y, respond-async", "handling=lenient"],
    ["GET", "/users", undefined, "count=estimated", "count=estimated"],
    ["GET", "/users?name=Ann", undefined, "count=estimated", "count=exact"],
    ["GET", "/users", undefined, "count=estimate", null],
    ["GET", "/users", undefined, "count=Exact", null],
    ["GET", "/users", undefined, "return=minimal", null],
    ["GET", "/users/1", undefined, "count=exact", null],
    ["GET", "/users/1", undefined, "respond-async, wait=10, no=thing", null],
    ["POST", "/orders", {}, "return=representation, wait=5", "return=representation"],
    ["POST", "/orders", {}, "return=short", null],
    ["POST", "/orders", {}, "return=minimal, return=representation", "return=minimal"],
    ["POST", "/users/1/keys", { name: "k" }, "return=minimal", null],
    ["POST", "/api/token/", login, "return=minimal", null],
    ["POST", "/api/session/", login, "return=minimal", null],
    ["POST", "/users/1/token", undefined, "return=minimal", null],
  ] as const) {
    const answer = await api.ask(method, path, { body, headers: { ...api.admin, prefer } });

    assert.equal(answer.headers.get("preference-applied"), applied, `${method} ${path} ${prefer}: ${answer.text}`);
    assert.equal(answer.text === "", applied === "return=minimal", `${method} ${path} ${prefer}`);
  }
});

test("reports an unknown preference with handling=strict, and changes nothing", async (t) => {
  const api = await serve(t);

  for (const prefer of [
    "handling=strict, respond-async",
    "handling=strict, count=estimate",
    "return=short, handling=strict",
    'handling="strict", wait=10',
    `handling=strict, ${"x".repeat(3000)}=1`,
    "handling=strict, constructor=1, __proto__=2",
  ]) {
    const headers = { ...api.admin, prefer };
    for (const answer of [
      await api.get("/users", headers),
      await api.get("/users/1", headers),
      await api.post("/orders", {}, headers),
      await api.delete("/users/1/sessions", headers),
    ])
      assert.deepEqual([answer.status, answer.json.code], [400, "unknown_preference"], prefer);
    assert.equal((await api.post("/orders", "{", headers)).json.code, "unknown_preference");
  }
  assert.deepEqual((await api.get("/orders", api.admin)).json, []);
  assert.equal((await api.get("/users", { prefer: "handling=strict, x" })).status, 401);
});
