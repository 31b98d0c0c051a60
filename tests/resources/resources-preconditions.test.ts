import assert from "node:assert/strict";
import test from "node:test";
import { anyone, defineEndpoint } from "../../src/door/index.ts";
import { adminPassword, serve, type API } from "../harness/serve.ts";

/** Preconditions, and whether each of them holds for a resource that exists but has no ETag. */
const preconditions: readonly (readonly [headers: Readonly<Record<string, string>>, holds: boolean])[] = [
  [{ "if-none-match": "*" }, false],
  [{ "if-match": '"x"' }, false],
  [{ "if-match": 'W/"x", "y"' }, false],
  [{ "if-match": '"x"', "if-none-match": '"x"' }, false],
  [{ "if-match": "*", "if-none-match": "*" }, false],
  [{ "if-match": "*" }, true],
  [{ "if-none-match": '"x"' }, true],
];

test("checks preconditions in every request that may change something", async (t) => {
  for (const [headers, holds] of preconditions) {
    const api = await serve(t);
    await api.post("/orders", {}, api.admin);
    await api.post("/users/1/token", undefined, api.admin);
    const login = { username: "admin", password: adminPassword };
    const { refresh } = (await api.post("/api/token/", login)).json;
    const key = (await api.post("/users/1/keys", { name: "one" }, api.admin)).json;
    await api.post("/api/session/", login);
    const session = (await api.get("/users/1/sessions", api.admin)).json[0].id;
    const calls: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ["POST", "/users", { name: "Ann", email: "ann@example.com" }],
      ["POST", "/orders", {}],
      ["POST", "/orders/1/items", { product: "Key", quantity: 1, unit_price: "1" }],
      ["POST", "/users/1/keys", { name: "two" }],
      ["DELETE", `/users/1/keys/${key.id}`],
      ["POST", "/users/1/token"],
      ["DELETE", "/users/1/token"],
      ["DELETE", `/users/1/sessions/${session}`],
      ["PATCH", "/users/1/account", {}],
      ["POST", "/api/token/verify/", { token: refresh }],
      ["POST", "/api/token/refresh/", { refresh }],
      ["DELETE", "/api/token/", { refresh }],
      ["POST", "/api/token/", login],
      ["POST", "/api/session/", login],
      ["DELETE", "/api/session/"],
      ["POST", "/api-token-auth/", login],
      ["DELETE", "/users/1/sessions"],
    ];
    const before = await readState(api);

    for (const [method, path, body] of calls) {
      const answer = await api.ask(method, path, { body, headers: { ...api.admin, ...headers } });

      const said = `${method} ${path} ${JSON.stringify(headers)}: ${answer.status} ${answer.text}`;
      if (holds) assert.ok(answer.status < 300, said);
      else assert.deepEqual([answer.status, answer.json?.code], [412, "precondition_failed"], said);
    }

    if (!holds) assert.deepEqual(await readState(api), before);
  }
});

/** Returns the content of every path that the requests above may change. */
async function readState(api: API): Promise<readonly string[]> {
  const paths = ["/users", "/orders", "/orders/1/items", "/users/1/keys", "/users/1/token", "/users/1/sessions"];
  const answers = await Promise.all(paths.map((path) => api.get(path, api.admin)));
  return answers.map(({ text }) => text);
}

test("reports a refused caller and a missing record before preconditions", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  const unless = { "if-none-match": "*" };

  for (const [method, path, headers, status] of [
    ["POST", "/users/1/keys", ann.headers, 403],
    ["POST", "/users/1/keys", {}, 401],
    ["POST", "/users/999/token", api.admin, 404],
    ["DELETE", "/users/999/token", api.admin, 404],
    ["DELETE", "/users/1/token", api.admin, 404],
    ["DELETE", "/users/1/keys/none", api.admin, 404],
    ["DELETE", "/users/999/sessions", api.admin, 404],
    ["POST", "/orders/999/items", api.admin, 404],
  ] as const) {
    const body = path.endsWith("items") ? { product: "Key", quantity: 1, unit_price: "1" } : { name: "x" };
    const answer = await api.ask(method, path, {
      headers: { ...headers, ...unless },
      ...(method === "DELETE" || path.endsWith("token") ? {} : { body }),
    });
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
  }
  assert.equal((await api.post("/users", { name: 1 }, { ...api.admin, ...unless })).status, 400);
  assert.equal((await api.post("/orders", {}, { ...api.admin, "if-match": "nonsense" })).json.code, "malformed");
});

test("applies If-Match and If-None-Match of a POST to the state of the list", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");
  await api.post("/orders", {}, api.admin);
  const [own, all, xml] = [
    (await api.get("/orders", ann.headers)).headers.get("etag")!,
    (await api.get("/orders", api.admin)).headers.get("etag")!,
    (await api.get("/orders", { ...ann.headers, accept: "application/xml" })).headers.get("etag")!,
  ];

  const make = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await api.post("/orders", {}, { ...ann.headers, ...headers })).status;
  assert.equal(await make({ "if-none-match": own }), 412);
  assert.equal(await make({ "if-none-match": `W/${xml}` }), 412);
  assert.equal(await make({ "if-match": all }), 412);
  assert.equal(await make({ "if-match": `W/${own}` }), 412);
  assert.equal(await make({ "if-match": own }), 201);
  assert.equal(await make({ "if-match": own }), 412);
  assert.equal(await make({ "if-none-match": own }), 201);
});

test("checks preconditions before the handler of a custom endpoint, unless the handler checks them itself", async (t) => {
  let done = 0;
  const act = {
    access: anyone,
    method: "POST",
    handle: () => (done++, { status: 204 }),
  } as const;
  const endpoints = [
    defineEndpoint({ ...act, path: "/plain" }),
    defineEndpoint({ ...act, path: "/careful", preconditions: "handler" }),
  ];
  const api = await serve(t, { config: { endpoints } });

  assert.equal((await api.post("/plain", undefined, { "if-match": '"x"' })).status, 412);
  assert.equal(done, 0);
  assert.equal((await api.post("/careful", undefined, { "if-match": '"x"' })).status, 204);
  assert.equal((await api.post("/plain", undefined, { "if-match": "*" })).status, 204);
});
