import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { documentation } from "../../src/door/features.ts";
import {
  accounts,
  anyone,
  createService,
  defineResource,
  listen,
  mount,
  Secret,
  sessionLogin,
  text,
  tokenLogin,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: limits are declared, and checked before the store is asked.

const notes = defineResource({ name: "note", fields: { body: text() }, pageSize: { default: 2, maximum: 3 } });

async function start(t: TestContext, options: Partial<ServiceOptions> = {}) {
  const service = await createService({
    store: await emptyStore(),
    secret: new Secret("a secret of 32 characters or more."),
    mounts: [mount(notes, { permission: anyone, arrays: true })],
    ...options,
  });
  t.after(() => service.close());
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: { "content-type": "application/json", ...headers },
      ...sent,
    });
    const answer = await service.fetch(request, { peer: "127.0.0.1" });
    const json = (await answer.json().catch(() => null)) as { readonly code?: string; readonly errors?: unknown };
    return { status: answer.status, headers: answer.headers, json };
  };
  return { service, ask };
}

test("limits the page size as the resource declares, and documents the limit", async (t) => {
  const { ask } = await start(t, { features: [documentation({ title: "A", version: "1" })] });
  await ask(
    "POST",
    "/notes",
    ["a", "b", "c", "d"].map((body) => ({ body })),
  );

  const page = await ask("GET", "/notes");
  const longer = await ask("GET", "/notes?limit=3");
  const tooLong = await ask("GET", "/notes?limit=4");
  const queried = await ask("QUERY", "/notes", { limit: 4 });
  const { json } = await ask("GET", "/openapi.json");
  const { paths } = json as unknown as {
    paths: { "/notes": { get: { parameters: { name?: string; schema: object }[] } } };
  };

  assert.deepEqual([(page.json as unknown as unknown[]).length, (longer.json as unknown as unknown[]).length], [2, 3]);
  assert.match(page.headers.get("link") ?? "", /rel="next"/);
  assert.deepEqual([tooLong.status, queried.status], [400, 400]);
  assert.match(JSON.stringify(tooLong.json.errors), /from 1 to 3/);
  const limit = paths["/notes"].get.parameters.find(({ name }) => name === "limit");
  assert.deepEqual(limit?.schema, { type: "integer", minimum: 1, maximum: 3, default: 2 });
});

test("does not start with an invalid page size", () => {
  const of = (pageSize: object) => () => defineResource({ name: "a", fields: {}, pageSize });

  assert.throws(
    of({ default: 20, maximum: 10 }),
    /pageSize is an object; default is 20; it has to be a whole number from 1 to 10/,
  );
  assert.throws(
    of({ maximum: 5000, defualt: 3 }),
    /there is no option defualt; did you mean default\?; maximum is 5000/,
  );
  assert.equal(defineResource({ name: "a", fields: {}, pageSize: { maximum: 10 } }).pageSize.default, 10);
});

test("refuses bodies that are larger than `maxBodyBytes`", async (t) => {
  const { ask } = await start(t, { maxBodyBytes: 100 });

  assert.equal((await ask("POST", "/notes", { body: "a".repeat(50) })).status, 201);
  assert.equal((await ask("POST", "/notes", { body: "a".repeat(100) })).status, 413);
});

test("names cookies as configured, with the prefix __Host- over TLS", async (t) => {
  const people = accounts({ registration: "open" });
  const { service, ask } = await start(t, {
    features: [
      people,
      sessionLogin(people, { cookie: "shop" }),
      tokenLogin(people, { accessCookie: "shop_access", refreshCookie: "shop_refresh" }),
    ],
  });
  const password = "long and unusual";
  await ask("POST", "/users", { name: "Ann", email: "ann@example.com", password });
  const login = { username: "ann@example.com", password };
  const stripAttributes = (cookie: string | undefined): string => cookie!.slice(0, cookie!.indexOf(";"));

  const [session] = (await ask("POST", "/api/session/", login)).headers.getSetCookie();
  const tokens = (await ask("POST", "/api/token/", { ...login, cookie: true })).headers.getSetCookie();
  const [access, refresh] = tokens;
  const encrypted = await service.fetch(
    new Request("https://127.0.0.1/api/session/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(login),
    }),
    { peer: "127.0.0.1" },
  );
  const who = (cookie: string) => ask("GET", "/api/session/", undefined, { cookie });
  const ended = await ask("DELETE", "/api/session/", undefined, { cookie: stripAttributes(session) });

  assert.match(session!, /^shop=/);
  assert.match(access!, /^shop_access=/);
  assert.match(refresh!, /^shop_refresh=/);
  assert.match(encrypted.headers.get("set-cookie") ?? "", /^__Host-shop=/);
  assert.match(ended.headers.get("set-cookie") ?? "", /^shop=;/);
  assert.equal((await who(stripAttributes(session))).status, 401);
  assert.equal((await who(stripAttributes(access))).status, 200);
  const refreshed = await ask("POST", "/api/token/refresh/", {}, { cookie: stripAttributes(refresh) });
  assert.equal(refreshed.status, 200);
});

test("reports two cookies with the same name at startup", async (t) => {
  const people = accounts();
  const features = (cookie: string, accessCookie: string, refreshCookie: string) =>
    start(t, {
      features: [people, sessionLogin(people, { cookie }), tokenLogin(people, { accessCookie, refreshCookie })],
    });

  await assert.rejects(features("shop", "shop", "other"), /bearer and session both read the cookie shop/);
  await assert.rejects(
    features("a", "shop", "shop"),
    /accessCookie and refreshCookie are both called shop; rename one/,
  );
});

test("answers 408 to a request that is not complete after the `requestSeconds` of its listener", async (t) => {
  const { service } = await start(t);
  const listener = await listen(service, { port: 0, requestSeconds: 1 });
  t.after(() => listener.close(0));
  const socket = connect(listener.port, "127.0.0.1");
  socket.write("GET /notes HTTP/1.1\r\nHost: a\r\n");

  const [said] = (await once(socket, "data")) as [Buffer];

  assert.match(String(said), /^HTTP\/1\.1 408 /);
  socket.destroy();
});
