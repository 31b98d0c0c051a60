import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import type { Endpoint, Format } from "../../src/door/http.ts";
import {
  anyone,
  createService,
  defineEndpoint,
  defineFeature,
  defineResource,
  integer,
  listen,
  mount,
  not,
  problem,
  text,
  type Feature,
} from "../../src/door/index.ts";
import { defineField, type Field } from "../../src/door/resources.ts";
import { type Change } from "../../src/door/stores.ts";
import { ownService, visitor } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

const notes = defineResource({ name: "note", fields: { body: text() } });

test("shows a caller only the request id if custom code throws", async (t) => {
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
    tagSuffix: "-half",
    problemMediaType: "application/problem+json",
    writeProblem: (document) => JSON.stringify(document),
  };
  const narrowing: Permission = {
    name: "narrowing",
    decide: () => ({ only: { column: "id", operator: "eq", value: 1 } }),
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
      mount(defineResource({ name: "negated", fields: { user_id: integer() } }), { permission: not(narrowing) }),
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

  for (const [method, path, options = {}] of rows) {
    observed.length = 0;
    const id = `request-${path.slice(1)}`;
    const { status, json, headers } = await ask(method, path, {
      ...options,
      headers: { ...options.headers, "x-request-id": id },
    });
    assert.equal(status, 500, `${method} ${path} ${JSON.stringify(options)}`);
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

test("prints a fault with its stack to standard error, unless `observe` is null", async (t) => {
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
    const service = await createService({ store: await emptyStore(), endpoints: [broken], ...observe });
    assert.equal((await service.fetch(new Request("http://a/broken"), { peer: "127.0.0.1" })).status, 500);
    await service.close();
  }
  t.mock.restoreAll();

  assert.equal(printed.length, 1);
  assert.match(
    printed[0]!,
    /^api: A request caused a fault \(request id \S+\)\.\nError: a hook of somebody's own\n {4}at /,
  );
});

test("answers 500 with a request id if custom code fails, prints the error, and writes nothing", async (t) => {
  const fault = (): never => {
    throw new Error("somebody's own mistake");
  };
  const journal = mount(defineResource({ name: "line", fields: { body: text() } }), { permission: anyone });
  const line: Change = { kind: "insert", collection: journal.collection, values: { body: "a" } };
  const one = (name: string, field: Field = text()) => defineResource({ name, fields: { body: field } });
  const printed: string[] = [];
  t.mock.method(process.stderr, "write", (chunk: string) => printed.push(chunk) > 0);
  const options = {
    mounts: [
      journal,
      mount(one("defaulted", text({ default: fault })), { permission: anyone }),
      mount(one("generated", text({ generated: fault })), { permission: anyone }),
      mount(one("prepared"), { permission: anyone, beforeWrite: () => ({ changes: [line], complete: fault }) }),
      mount(one("late"), { permission: anyone, beforeWrite: async () => fault() }),
      mount(one("wrong"), {
        permission: anyone,
        beforeWrite: () => ({
          changes: [line, { ...line, values: { bdy: "a" } }],
        }),
      }),
      mount(one("acting"), {
        permission: anyone,
        actions: {
          thrown: { on: "collection", permission: anyone, handle: fault },
          late: { on: "collection", permission: anyone, handle: async () => fault() },
          wrong: {
            on: "collection",
            permission: anyone,
            handle: () => ({ changes: [line, { ...line, kind: "isnert" } as unknown as Change] }),
          },
          answered: {
            on: "collection",
            permission: anyone,
            answer: { n: integer() },
            handle: () => ({ changes: [line] }),
          },
        },
      }),
      mount(one("watched"), { permission: anyone }),
    ],
    features: [
      defineFeature({
        name: "alongside",
        setUp: () => ({
          offer: null,
          alongside: ({ resource }) => (resource.name === "watched" ? fault() : []),
          observe: ({ kind }) => (kind === "request" ? fault() : undefined),
        }),
      }),
    ],
  };
  const service = await createService({ store: await emptyStore(), ...options });
  t.after(() => service.close());
  const ask = async (method: string, path: string, body?: object): Promise<Response> =>
    service.fetch(
      new Request(`http://a${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      }),
      { peer: "127.0.0.1" },
    );
  const rows: readonly (readonly [method: string, path: string, body?: object])[] = [
    ["POST", "/defaulteds", {}],
    ["POST", "/generateds", {}],
    ["POST", "/prepareds", { body: "a" }],
    ["POST", "/lates", { body: "a" }],
    ["POST", "/wrongs", { body: "a" }],
    ["POST", "/actings/thrown", {}],
    ["POST", "/actings/late", {}],
    ["POST", "/actings/wrong", {}],
    ["POST", "/actings/answered", {}],
    ["POST", "/watcheds", { body: "a" }],
  ];

  for (const [method, path, body] of rows) {
    printed.length = 0;
    const answer = await ask(method, path, body);
    const { request_id: id, code } = (await answer.json()) as { request_id: string; code: string };
    assert.deepEqual([answer.status, code], [500, "internal"], path);
    assert.ok(
      printed.some((each) => each.includes(`request id ${id}`) && /\n {4}at /.test(each)),
      `${path}: ${printed.join("")}`,
    );
  }

  for (const { collection } of options.mounts) assert.equal(await service.store.count(collection, null), 0);
});

test("reports a fault if a function that must be synchronous returns a promise, and catches the rejection", async (t) => {
  const rejected: unknown[] = [];
  const hear = (reason: unknown): void => void rejected.push(reason);
  process.on("unhandledRejection", hear);
  t.after(() => process.off("unhandledRejection", hear));
  const later = async (): Promise<never> => {
    throw new Error("a promise of somebody's own");
  };
  const asyncHook = later as never;
  const permission = anyone;
  const number = integer({ optional: true });
  const own = { name: "own", parseText: String, schema: {}, column: { type: "text" } } as const;
  const mounts = [
    mount(defineResource({ name: "checked", fields: { body: text() }, check: asyncHook }), { permission }),
    mount(defineResource({ name: "filled", fields: { body: text(), n: integer({ default: asyncHook }) } }), {
      permission,
    }),
    mount(
      defineResource({ name: "made", fields: { body: text(), n: integer({ readOnly: true, generated: asyncHook }) } }),
      { permission },
    ),
    mount(
      defineResource({ name: "computing", fields: { body: text() }, computed: { n: { as: number, from: asyncHook } } }),
      { permission },
    ),
    mount(defineResource({ name: "kind", fields: { body: defineField({ ...own, parse: asyncHook }, {}) } }), {
      permission,
    }),
    mount(defineResource({ name: "beside", fields: { body: text() } }), { permission }),
  ];
  let isStarted = false;
  const beside = defineFeature({
    name: "beside",
    setUp: () => ({
      offer: null,
      alongside: ({ resource }) => (resource.plural === "besides" ? (later() as never) : []),
      upkeep: [{ everySeconds: 1, due: () => (isStarted ? (later() as never) : []) }],
    }),
  });
  const messages: string[] = [];
  const service = await createService({
    store: await emptyStore(),
    mounts,
    features: [beside],
    observe: (each) => void ("error" in each && each.error instanceof Error && messages.push(each.error.message)),
  });
  t.after(() => service.close());
  isStarted = true;

  for (const { resource } of mounts) {
    const body = new Request(`http://a${resource.path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"body":"a"}',
    });
    assert.equal((await service.fetch(body, { peer: "127.0.0.1" })).status, 500, resource.path);
    assert.match(messages.pop() ?? "nothing", /gave a promise; it has to give its value at once/, resource.path);
  }
  while (messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.match(messages[0]!, /^due gave a promise/);
  assert.deepEqual(rejected, []);
});

for (const [what, reply] of Object.entries({
  "contains a line break": { status: 204, headers: [["X-Name", "a\r\nX-Other: b"]] },
  "contains a character outside Latin-1": { status: 204, headers: [["X-Name", "☃"]] },
  "has an invalid name": { status: 204, headers: [["X Name", "a"]] },
  "is a content type with a line break": { status: 200, body: { kind: "raw", type: "text/plain\n", content: "" } },
}))
  test(`answers 500 if custom code returns a header field that ${what}`, async (t) => {
    const broken = defineEndpoint({ method: "GET", path: "/broken", access: anyone, handle: () => reply as never });
    const refused = defineEndpoint({
      method: "GET",
      path: "/refused",
      access: anyone,
      handle() {
        throw problem("not_found", { headers: (reply.headers ?? [["X-Name", "a\n"]]) as never });
      },
    });
    const observe = null;
    const store = await emptyStore();
    const service = await createService({ store, endpoints: [broken, refused], observe });
    const listener = await listen(service, { port: 0 });
    t.after(() => listener.close().then(() => service.close()));

    for (const path of ["/broken", "/refused"]) {
      const answer = await fetch(listener.url + path);
      assert.equal(answer.status, 500);
      assert.equal(((await answer.json()) as { code: string }).code, "internal");
      assert.equal((await service.fetch(new Request(`http://a${path}`), { peer: "127.0.0.1" })).status, 500);
    }
  });

test("does not start with a feature whose function `mistakes` fails, and names the feature", async () => {
  const startWith = async (mistakes: unknown) =>
    createService({
      store: await emptyStore(),
      features: [defineFeature({ name: "mine", setUp: () => ({ offer: null, mistakes: mistakes as never }) })],
    });
  const throwing = (): never => {
    throw new Error("no list");
  };

  await assert.rejects(startWith(throwing), /feature mine: mistakes threw Error: no list/);
  await assert.rejects(
    startWith(() => 5),
    /feature mine: mistakes gave 5; it has to give a list of sentences/,
  );
  await assert.rejects(
    startWith(async () => []),
    /feature mine: mistakes threw TypeError: mistakes gave a promise/,
  );
});

test("sends the same response if observers fail, and reports each failing observer once", async (t) => {
  const printed: string[] = [];
  t.mock.method(process.stderr, "write", (chunk: string) => printed.push(chunk) > 0);
  const heard: string[] = [];
  const { get } = await ownService(t, {
    mounts: [mount(notes, { permission: anyone })],
    observe() {
      throw new Error("the log is gone");
    },
    features: [
      defineFeature({ name: "rejecting", setUp: () => ({ offer: null, observe: async () => assert.fail("later") }) }),
      defineFeature({ name: "hearing", setUp: () => ({ offer: null, observe: ({ kind }) => void heard.push(kind) }) }),
    ],
  });

  assert.deepEqual([(await get("/notes")).status, (await get("/nowhere")).status], [200, 404]);
  await new Promise(setImmediate);
  assert.deepEqual(heard, ["request", "request"]);
  assert.equal(printed.length, 2);
  assert.match(printed[0]!, /An observer failed.*\nError: the log is gone\n {4}at /);
});

test("reports failed upkeep once and tries it again, and closes the store if a feature fails to start or stop", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let tries = 0;
  const failing = (name: string, parts: object, needs: readonly Feature[] = []): Feature =>
    defineFeature({ name, needs, setUp: () => ({ offer: null, ...parts }) });
  const fail = (what: string) => (): never => {
    throw new Error(what);
  };
  const { service, observed } = await ownService(t, {
    features: [failing("broken", { upkeep: [{ everySeconds: 1, due: () => (tries++, fail("no broom")()) }] })],
  });

  const atStart = tries;
  for (const round of [1, 2]) {
    t.mock.timers.tick(1000);
    await new Promise(setImmediate);
    assert.equal(tries - atStart, round);
  }
  assert.equal(observed.filter((each) => each.kind === "notice" && each.level === "error").length, 1);
  assert.equal(service.inFlight(), 0);

  const stopping = failing("stopping", { stop: fail("stuck") });
  const starting = failing("starting", { start: fail("no line") }, [stopping]);
  const store = await emptyStore();
  await assert.rejects(createService({ store, features: [stopping, starting] }), /no line/);
  await assert.rejects(store.check());
  const other = await createService({ store, features: [stopping, failing("also", { stop: fail("stuck too") })] });
  await assert.rejects(other.close(), AggregateError);
  await assert.rejects(store.check());
});

test("reports a fault if a hook changes the draft, and stores nothing", async (t) => {
  const books = defineResource({ name: "book", fields: { title: text({ maxLength: 5 }) } });
  const beforeWrite = ({ draft }: { readonly draft: object | null }): object => {
    Object.assign((draft as { readonly values: object }).values, { title: "longer than five" });
    return {};
  };
  const { ask, get, observed } = await ownService(t, { mounts: [mount(books, { permission: anyone, beforeWrite })] });

  assert.equal((await ask("POST", "/books", { body: { title: "short" } })).status, 500);

  assert.deepEqual((await get("/books")).json, []);
  assert.match(String(observed.map((each) => ("error" in each ? each.error : ""))), /read only/);
});
