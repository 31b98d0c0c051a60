import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "../../src/door/http.ts";
import {
  accepted,
  anyone,
  authenticated,
  createService,
  defineEndpoint,
  defineResource,
  mount,
  problem,
  text,
  type Scheme,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { emptyStore } from "../harness/test-store.ts";

// Nightly on PostgreSQL: permissions are checked outside of the store.

// The service refuses access if the result of a check is invalid. For example, a promise is neither yes nor no.

const wrong = (value: unknown) => value as never;
const limited: Scheme = {
  name: "limited",
  carriers: [{ in: "header", name: "X-Limited" }],
  authenticate: () =>
    accepted({ id: 1, username: "ann", role: "user", scheme: "limited", scopes: ["few"], expiresAt: null }),
};
const hello = defineEndpoint({ method: "GET", path: "/hello", access: anyone, handle: () => ({ status: 204 }) });
const checkedNote = (check: () => unknown) =>
  defineResource({ name: "note", fields: { body: text() }, check: wrong(check) });

async function serve(options: Partial<ServiceOptions>) {
  const faults: string[] = [];
  const service = await createService({
    store: await emptyStore(),
    schemes: [limited],
    observe: (each) => void (each.kind === "fault" && faults.push(String(each.error))),
    ...options,
  });
  const ask = (method: string, path: string, body?: object) =>
    service.fetch(
      new Request(`http://a${path}`, {
        method,
        headers: { "x-limited": "a", "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: null },
    );
  return { service, ask, faults };
}

for (const [what, rule] of Object.entries<() => unknown>({
  "a promise of false": async () => false,
  "a promise that is rejected": () => Promise.reject(new Error("late")),
  "a text": () => "no",
  nothing: () => undefined,
}))
  test(`refuses access if a rule for scopes returns ${what}`, async (t) => {
    const { service, ask, faults } = await serve({ endpoints: [hello], scopesAllow: wrong(rule) });
    t.after(() => service.close());

    assert.equal((await ask("GET", "/hello")).status, 500);
    assert.match(faults[0]!, /^TypeError: scopesAllow gave (?:a promise|a text|missing); it has to give true or false/);
  });

test("reports an asynchronous guard as an error, and does not call the handler", async (t) => {
  let handlerCalls = 0;
  const guarded = defineEndpoint({
    method: "GET",
    path: "/guarded",
    access: anyone,
    guard: wrong(async () => {
      throw problem("permission_denied");
    }),
    handle: () => (handlerCalls++, { status: 204 }),
  });
  const { service, ask, faults } = await serve({ endpoints: [guarded] });
  t.after(() => service.close());

  assert.equal((await ask("GET", "/guarded")).status, 500);
  assert.equal(handlerCalls, 0);
  assert.match(faults[0]!, /guard of GET \/guarded gave a promise; it has to give its value at once/);
});

for (const [what, issues] of Object.entries<unknown>({
  "a promise": Promise.resolve([]),
  nothing: undefined,
  "a list of texts": ["the title is wrong"],
  "an issue without a pointer": [{ code: "wrong", detail: "It is wrong." }],
}))
  test(`refuses writes and actions if a check returns ${what}`, async (t) => {
    let isWrong = false;
    const notes = mount(
      checkedNote(() => (isWrong ? issues : [])),
      {
        permission: anyone,
        actions: { rename: { permission: anyone, handle: () => ({ values: { body: "renamed" } }) } },
      },
    );
    const { service, ask, faults } = await serve({ mounts: [notes] });
    t.after(() => service.close());
    assert.equal((await ask("POST", "/notes", { body: "first" })).status, 201);
    isWrong = true;

    assert.equal((await ask("POST", "/notes", { body: "second" })).status, 500);
    assert.equal((await ask("POST", "/notes/1/rename", {})).status, 500);

    assert.equal(faults.length, 2);
    for (const fault of faults) assert.match(fault, /^TypeError: \/notes: check gave /);
    isWrong = false;
    assert.deepEqual(await (await ask("GET", "/notes/1")).json(), { id: 1, body: "first" });
  });

for (const [what, reply, message] of [
  [
    "status 204 and a body",
    { status: 204, body: { kind: "raw", type: "text/plain", content: "a" } },
    /body is an object; 204 has none/,
  ],
  [
    "a Content-Length header",
    { status: 200, headers: [["Content-Length", "99"]] },
    /headers.*Content-Length is written by the service; leave it out/,
  ],
  [
    "a Transfer-Encoding header",
    { status: 200, headers: [["transfer-encoding", "chunked"]] },
    /transfer-encoding is written by the service/,
  ],
  [
    "a Content-Type header",
    { status: 200, headers: [["Content-Type", "text/html"]] },
    /Content-Type is written by the service/,
  ],
  ["a tag that contains a quote", { status: 200, tag: 'a"b' }, /tag is a text; it has to be/],
  ["a tag that contains a line break", { status: 200, tag: "a\nb" }, /tag is a text; it has to be/],
] as const)
  test(`reports a reply with ${what} as an error`, async (t) => {
    const wrongly = defineEndpoint({ method: "GET", path: "/a", access: anyone, handle: () => reply as Reply });
    const { service, ask, faults } = await serve({ endpoints: [wrongly] });
    t.after(() => service.close());

    assert.equal((await ask("GET", "/a")).status, 500);
    assert.match(faults[0]!, message);
  });

for (const [what, options, message] of [
  ["a detail that is not a text", { detail: 5 }, /problem\(invalid\): detail is a number; it has to be a text/],
  ["issues that are not a list", { issues: "all" }, /problem\(invalid\): issues is a text; it has to be a list/],
  [
    "an issue that is null",
    { issues: [null] },
    /problem\(invalid\): issues is a list; it has to be a list of \{ pointer, code, detail \}/,
  ],
] as const)
  test(`refuses to make a problem with ${what}`, () => {
    assert.throws(() => problem("invalid", wrong(options)), message);
  });

for (const [what, now] of Object.entries<() => unknown>({
  NaN: () => Number.NaN,
  "a text": () => "noon",
  "a Date": () => new Date(),
}))
  test(`refuses to start with a clock that returns ${what}`, async () => {
    await assert.rejects(
      serve({ now: wrong(now) }),
      /createService: now gave (?:NaN|a text|a Date); it has to give milliseconds/,
    );
  });

test("copies and freezes declarations, so that later changes have no effect", async (t) => {
  const fields = { body: text() };
  const note = defineResource({ name: "note", fields });
  const permission: Record<string, typeof anyone> = { list: anyone, create: anyone };
  const mounted = mount(note, { permission });
  permission["delete"] = anyone;
  Object.assign(fields, { other: text() });

  assert.throws(() => Object.assign(note.fields, { other: text() }), TypeError);
  assert.throws(() => Object.assign(mounted.permissions, { delete: anyone }), TypeError);
  const { service, ask } = await serve({ mounts: [mounted] });
  t.after(() => service.close());
  assert.equal((await ask("POST", "/notes", { body: "a", other: "b" })).status, 400);
  assert.equal((await ask("DELETE", "/notes/1")).status, 404);
});

test("reports a scheme as an error if its `recognizes` returns a promise", async (t) => {
  const part = (recognizes: () => unknown): Scheme => ({ ...limited, shared: true, recognizes: wrong(recognizes) });
  for (const late of [async () => false, () => Promise.reject(new Error("late"))]) {
    const { service, ask, faults } = await serve({
      endpoints: [{ ...hello, access: authenticated }],
      schemes: [part(late), part(() => true)],
    });
    t.after(() => service.close());

    assert.equal((await ask("GET", "/hello")).status, 500);
    assert.match(faults[0]!, /^TypeError: recognizes of the scheme limited gave a promise/);
  }
});
