import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { serve } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

test("gives each state and each format of a record a different ETag", async (t) => {
  const api = await serve(t);
  const made = await api.post("/users", { name: "Ann", email: "ann@example.com" }, api.admin);
  const [json, xml] = [
    await api.get("/users/2", api.admin),
    await api.get("/users/2", { ...api.admin, accept: "application/xml" }),
  ];

  const patched = await api.patch("/users/2", { name: "Bea" }, api.admin);
  const put = await api.put("/users/2", { name: "Cid", email: "ann@example.com" }, api.admin);

  assert.equal(made.headers.get("etag"), json.headers.get("etag"));
  const tags = [json, xml, patched, put].map(({ headers }) => headers.get("etag"));
  assert.equal(new Set(tags).size, 4);
  assert.equal((await api.get("/users/2", api.admin)).headers.get("etag"), put.headers.get("etag"));
});

test("answers 304 without a body if If-None-Match names the current ETag", async (t) => {
  const api = await serve(t);

  for (const path of ["/users/1", "/users", "/users/1/account", "/orders"]) {
    const tag = (await api.get(path, api.admin)).headers.get("etag")!;
    for (const condition of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await api.ask(method, path, { headers: { ...api.admin, "if-none-match": condition } });
        assert.deepEqual(
          [answer.status, answer.text, answer.headers.get("etag")],
          [304, "", tag],
          `${path} ${condition}`,
        );
        assert.equal(answer.headers.get("content-type"), null);
      }
    }
    for (const other of ['"x"', `${tag.slice(0, -1)}-xml"`]) {
      assert.equal((await api.get(path, { ...api.admin, "if-none-match": other })).status, 200, `${path} ${other}`);
    }
    assert.equal((await api.get(path, { ...api.admin, "if-none-match": "nonsense" })).json.code, "malformed");
  }
});

test("changes a record only if its ETag meets the preconditions", async (t) => {
  const api = await serve(t);
  const order = await api.post("/orders", {}, api.admin);
  const tag = order.headers.get("etag")!;
  const xml = (await api.get("/orders/1", { ...api.admin, accept: "application/xml" })).headers.get("etag")!;
  const refused: readonly Record<string, string>[] = [
    { "if-match": '"x"' },
    { "if-match": `W/${tag}` },
    { "if-none-match": "*" },
    { "if-none-match": tag },
    { "if-none-match": `W/${xml}` },
    { "if-match": tag, "if-none-match": "*" },
  ];

  for (const headers of refused) {
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const answer = await api.ask(method, "/orders/1", {
        headers: { ...api.admin, ...headers },
        ...(method === "DELETE" ? {} : { body: { status: "paid" } }),
      });
      assert.deepEqual(
        [answer.status, answer.json.code],
        [412, "precondition_failed"],
        `${method} ${JSON.stringify(headers)}`,
      );
    }
  }
  assert.deepEqual((await api.get("/orders/1", api.admin)).json, order.json);
  for (const headers of [{ "if-match": "*" }, { "if-none-match": '"x"' }]) {
    assert.equal((await api.patch("/orders/1", {}, { ...api.admin, ...headers })).status, 200);
  }
  const now = (await api.get("/orders/1", { ...api.admin, accept: "application/xml" })).headers.get("etag")!;
  assert.equal(
    (await api.patch("/orders/1", { status: "paid" }, { ...api.admin, "if-match": `"x", ${now}` })).status,
    200,
  );
  assert.equal((await api.delete("/orders/1", { ...api.admin, "if-match": now })).status, 412);
  assert.equal((await api.delete("/orders/1", { ...api.admin, "if-match": "nonsense" })).status, 400);
});

test("refuses a PUT with If-None-Match: * if the record exists, and with If-Match: * if it does not exist", async (t) => {
  const api = await serve(t);
  const ann = { name: "Ann", email: "ann@example.com" };

  assert.equal((await api.put("/users/50", ann, { ...api.admin, "if-match": "*" })).status, 412);
  assert.equal((await api.put("/users/50", ann, { ...api.admin, "if-none-match": "*" })).status, 201);
  assert.equal((await api.put("/users/50", ann, { ...api.admin, "if-none-match": "*" })).status, 412);
  assert.equal((await api.put("/users/50", ann, { ...api.admin, "if-match": "*" })).status, 200);
});

test("creates one record for many concurrent requests with If-None-Match: *", async (t) => {
  const api = await serve(t, await onDisk(t));
  const asks = Array.from({ length: 50 }, (_, at) =>
    api.put("/users/50", { name: `n${at}`, email: `n${at}@example.com` }, { ...api.admin, "if-none-match": "*" }),
  );

  const answers = await Promise.all(asks);

  assert.deepEqual(tally(answers), { 201: 1, 412: 49 });
  const winner = answers.find(({ status }) => status === 201)!;
  assert.deepEqual((await api.get("/users/50", api.admin)).json, winner.json);
});

test("accepts one of many concurrent changes with the same If-Match, and all changes without If-Match", async (t) => {
  const api = await serve(t, await onDisk(t));
  const order = await api.post("/orders", {}, api.admin);
  await api.post("/orders/1/items", { product: "Key", quantity: 1, unit_price: "1" }, api.admin);
  const guarded = { ...api.admin, "if-match": order.headers.get("etag")! };

  const one = await Promise.all(Array.from({ length: 100 }, () => api.patch("/orders/1", { status: "paid" }, guarded)));
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      api.patch("/orders/1/items/1", at % 2 === 0 ? { quantity: at + 2 } : { product: `Key ${at}` }, api.admin),
    ),
  );

  assert.deepEqual(tally(one), { 200: 1, 412: 99 });
  assert.deepEqual(tally(all), { 200: 100 });
  const { quantity, product } = (await api.get("/orders/1/items/1", api.admin)).json;
  assert.ok(quantity > 1 && product !== "Key", "the changes of both fields are stored");
  assert.equal(new Set(all.map(({ headers }) => headers.get("etag"))).size, 100);
});

test("keeps all concurrent changes of different fields of one user", async (t) => {
  const api = await serve(t, await onDisk(t));
  const ann = await api.user("Ann");

  const answers = await Promise.all([
    api.patch(`/users/${ann.id}/account`, { active: false }, api.admin),
    api.patch(`/users/${ann.id}/account`, { username: "ann" }, api.admin),
    api.patch(`/users/${ann.id}`, { name: "Bea" }, api.admin),
    api.patch(`/users/${ann.id}`, { email: "bea@example.com" }, api.admin),
    api.put(`/users/${ann.id}`, { name: "Bea", email: "bea@example.com", password: "another password" }, api.admin),
  ]);

  assert.deepEqual(tally(answers), { 200: 5 }, answers.map(({ text }) => text).join());
  const account = (await api.get(`/users/${ann.id}/account`, api.admin)).json;
  assert.deepEqual([account.username, account.active], ["ann", false]);
  assert.deepEqual((await api.get(`/users/${ann.id}`, api.admin)).json, {
    id: ann.id,
    name: "Bea",
    email: "bea@example.com",
  });
});

test("answers 428 without If-Match for a resource that requires it", async (t) => {
  const notes = defineResource({ name: "note", fields: { body: text() } });
  const api = await serve(t, { config: { mounts: [mount(notes, { permission: anyone, requireIfMatch: true })] } });
  const tag = (await api.post("/notes", { body: "x" })).headers.get("etag")!;

  for (const [method, body] of [
    ["PUT", { body: "y" }],
    ["PATCH", { body: "y" }],
    ["DELETE", undefined],
  ] as const) {
    const answer = await api.ask(method, "/notes/1", { body });
    assert.deepEqual([answer.status, answer.json.code], [428, "precondition_required"], method);
  }
  assert.equal((await api.put("/notes/1", { body: "y" }, { "if-match": tag })).status, 200);
});

async function onDisk(t: TestContext) {
  const { url } = await sharedDatabase(t);
  return { settings: { LATCHKEY_DATABASE: url, LATCHKEY_SECRET: "a secret of more than 32 characters" } };
}

function tally(answers: readonly { readonly status: number }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
