import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import test from "node:test";
import { requestListener } from "../../src/door/http.ts";
import { createService, listen } from "../../src/door/index.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { adminPassword, serve } from "../harness/serve.ts";

// Nightly on PostgreSQL: paths and addresses are the same over every store.

const base = "/api/v1";
const settings = { LATCHKEY_BASE_PATH: `${base}/` };
const login = { username: "admin", password: adminPassword };

test("serves everything below the base path, and nothing outside of it", async (t) => {
  for (const binding of ["fetch", "node"] as const) {
    const api = await serve(t, { settings, binding });

    for (const path of ["/users", "/users/", "/livez", "/docs", "/docs/", "/openapi.json", "/problems/not_found"])
      assert.equal((await api.get(base + path, api.admin)).status, 200, path);
    for (const path of ["/users", "/", "/api", "/api/v10/users", "/API/v1/users", "/livez", "/openapi.json"]) {
      const answer = await api.get(path, api.admin);
      assert.deepEqual([answer.status, answer.json.type], [404, `${base}/problems/not_found`], path);
    }
  }
});

test("answers at every address that a response names", async (t) => {
  const api = await serve(t, { settings });
  const at = async (method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await api.ask(method, base + path, { body, headers: api.admin });
    const location = answer.headers.get("location")!;
    assert.ok(location.startsWith(`${base}/`), `${path}: ${location}`);
    assert.equal((await api.get(location, api.admin)).status, 200, location);
    return location;
  };

  assert.equal(await at("POST", "/users", { name: "Ann", email: "ann@example.com" }), `${base}/users/2`);
  assert.equal(await at("PUT", "/users/50", { name: "Bea", email: "bea@example.com" }), `${base}/users/50`);
  assert.equal(await at("POST", "/users/1/token"), `${base}/users/1/token`);
  assert.match(await at("POST", "/users/1/keys", { name: "one" }), /^\/api\/v1\/users\/1\/keys\//);
  const { headers } = await api.get(`${base}/users?limit=1`, api.admin);
  const next = /<([^>]+)>; rel="next"/.exec(headers.get("link")!)![1]!;
  assert.ok(next.startsWith(`${base}/users?`));
  assert.equal((await api.get(next, api.admin)).json[0].id, 2);
  const missing = await api.get(`${base}/users/999`, api.admin);
  assert.match((await api.get(missing.json.type)).text, /href="\/api\/v1\/problems"/);
  assert.match((await api.get(`${base}/problems`)).text, /href="\/api\/v1\/problems\/not_found"/);
  const docs = (await api.get(`${base}/docs`)).text;
  for (const path of ["/docs/listUsers", "/openapi.json"]) assert.ok(docs.includes(`href="${base}${path}"`), path);
  const { servers, components } = (await api.get(`${base}/openapi.json`)).json;
  assert.deepEqual(servers, [{ url: base }]);
  const { examples } = components.responses.NotFound.content["application/problem+json"];
  assert.equal(examples.not_found.value.type, `${base}/problems/not_found`);
});

test("limits the refresh cookie to the token endpoint below the base path, and sends the other cookies to every path", async (t) => {
  const api = await serve(t, { settings });
  const tokens = await api.post(`${base}/api/token/`, { ...login, cookie: true });
  const session = await api.post(`${base}/api/session/`, login);
  const [access, refresh] = tokens.headers.getSetCookie();

  assert.match(access!, /^access_token=.*; Path=\/(?:;|$)/);
  assert.match(refresh!, /^refresh_token=.*; Path=\/api\/v1\/api\/token\/(?:;|$)/);
  assert.match(session.headers.getSetCookie()[0]!, /; Path=\/(?:;|$)/);
  const cookie = refresh!.split(";")[0]!;
  const ended = await api.delete(`${base}/api/token/`, { cookie });
  assert.match(ended.headers.getSetCookie()[1]!, /Path=\/api\/v1\/api\/token\//);
});

test("refuses to start with an invalid base path", async (t) => {
  for (const text of ["api", "//api", "/a?b", "/a#b", "/a/../b", "/a;b"]) {
    await assert.rejects(serve(t, { settings: { LATCHKEY_BASE_PATH: text } }), /LATCHKEY_BASE_PATH is/, text);
    await assert.rejects(createService({ store: sqliteStore({ path: ":memory:" }), basePath: text }), /basePath/);
  }
});

test("puts the base path into the problem type of an unreadable request", async (t) => {
  const { service } = await serve(t, { settings });
  const listener = await listen(service, { port: 0 });
  t.after(() => listener.close(0));

  const socket = connect(listener.port, "127.0.0.1");
  socket.end("nonsense\r\n\r\n");
  const text = Buffer.concat((await socket.toArray()) as Buffer[]).toString();

  assert.match(text, /^HTTP\/1\.1 400 [\s\S]*"type":"\/api\/v1\/problems\/malformed"/);
});

test("accepts requests from a framework that removes the base path from the URL", async (t) => {
  const { service, admin } = await serve(t, { settings });
  const answer = requestListener(service);
  const server = createServer((request, response) => {
    // Express removes the path of a mounted handler from `url`, and keeps the whole URL in `originalUrl`.
    Object.assign(request, { originalUrl: request.url });
    request.url = request.url!.slice(base.length) || "/";
    answer(request, response);
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const response = await fetch(`http://127.0.0.1:${port}${base}/users?limit=1`, { headers: admin });

  assert.equal(response.status, 200);
  assert.match(response.headers.get("link")!, /^<\/api\/v1\/users\?limit=1>; rel="first"/);
});
