import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  createService,
  defineEndpoint,
  defineResource,
  mount,
  not,
  owner,
  sqliteStore,
  text,
  type Endpoint,
  type Format,
} from "../src/index.ts";
import { ownService, visitor } from "./own-service.ts";

const notes = defineResource({ name: "note", fields: { body: text() } });

test("a fault is told by its request id and nothing else, wherever it is", async (t) => {
  const secret = "the inside story";
  const fault = (): never => {
    throw new Error(secret);
  };
  const broken: Format = {
    mediaType: "text/broken",
    problemMediaType: "text/broken",
    tagSuffix: "-broken",
    write: fault,
    writeProblem: fault,
  };
  const half: Format = {
    ...broken,
    mediaType: "text/half",
    problemMediaType: "application/problem+json",
    writeProblem: (document) => JSON.stringify(document),
  };
  const named = (name: string) => defineResource({ name, fields: { body: text() } });
  const endpoint = (path: string, handle: Endpoint["handle"]): Endpoint =>
    defineEndpoint({ method: "GET", path, access: anyone, handle });
  const { ask, observed } = await ownService(t, {
    schemes: [{ name: "trap", carriers: [{ in: "header", name: "X-Trap" }], authenticate: fault }, visitor],
    endpoints: [
      endpoint("/sync", fault),
      endpoint("/async", async () => fault()),
      endpoint("/thrown", () => {
        throw secret as unknown as Error;
      }),
    ],
    mounts: [
      mount(notes, { permission: anyone }),
      mount(defineResource({ name: "checked", fields: { body: text() }, check: fault }), { permission: anyone }),
      mount(named("hooked"), { permission: anyone, beforeWrite: fault }),
      mount(named("guarded"), { permission: { name: "guard", decide: fault } }),
      mount(named("negated"), { permission: not(owner("body")) }),
      mount(defineResource({ name: "forgotten", fields: { body: text({ readOnly: true }) } }), { permission: anyone }),
    ],
    formats: [broken, half],
  });
  const body = { body: "a" };
  const rows: readonly (readonly [method: string, path: string, asked: Parameters<typeof ask>[2]])[] = [
    ["GET", "/sync", {}],
    ["GET", "/async", {}],
    ["GET", "/thrown", {}],
    ["GET", "/notes", { headers: { "x-trap": "a" } }],
    ["POST", "/checkeds", { body }],
    ["POST", "/hookeds", { body }],
    ["GET", "/guardeds", {}],
    ["GET", "/negateds", { as: "ada" }],
    ["POST", "/forgottens", { body: {} }],
    ["GET", "/notes", { headers: { accept: "text/half" } }],
    ["GET", "/notes", { headers: { accept: "text/broken" } }],
    ["GET", "/nowhere", { headers: { accept: "text/broken" } }],
  ];

  for (const [method, path, asked = {}] of rows) {
    observed.length = 0;
    const id = `request-${path.slice(1)}`;
    const { status, json, headers } = await ask(method, path, {
      ...asked,
      headers: { ...asked.headers, "x-request-id": id },
    });
    assert.equal(status, 500, `${method} ${path} ${JSON.stringify(asked)}`);
    assert.deepEqual(json, {
      type: "/problems/internal",
      title: "Internal server error",
      status: 500,
      detail: "Something went wrong on our side.",
      code: "internal",
      request_id: id,
    });
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("x-request-id"), id);
    assert.ok(
      observed.some((each) => each.kind === "fault" && each.requestId === id && each.error !== undefined),
      path,
    );
    assert.ok(
      observed.some((each) => each.kind === "request" && each.status === 500 && each.code === "internal"),
      path,
    );
  }
  assert.equal((await ask("GET", "/notes")).text, "[]");
});

test("where nobody said who observes, a fault is printed on standard error with its stack; where nobody is to, nothing is", async (t) => {
  const broken = defineEndpoint({
    method: "GET",
    path: "/broken",
    access: anyone,
    handle() {
      throw new Error("a hook of somebody's own");
    },
  });
  const printed: string[] = [];
  t.mock.method(process.stderr, "write", (text: string) => printed.push(text) > 0);
  for (const observe of [{}, { observe: null }]) {
    const service = await createService({ store: sqliteStore({ path: ":memory:" }), endpoints: [broken], ...observe });
    assert.equal((await service.fetch(new Request("http://a/broken"), { peer: "127.0.0.1" })).status, 500);
    await service.close();
  }
  t.mock.restoreAll();

  assert.equal(printed.length, 1);
  assert.match(printed[0]!, /^Latchkey: A request ended with 500 .*\nError: a hook of somebody's own\n {4}at /);
});
