import assert from "node:assert/strict";
import { test } from "node:test";
import { outbox, rateLimits } from "../../src/door/features.ts";
import type { Format } from "../../src/door/http.ts";
import {
  anyone,
  createService,
  defineEndpoint,
  defineFeature,
  defineResource,
  json,
  mount,
  text,
} from "../../src/door/index.ts";
import { makeLog } from "../../src/door/ops.ts";
import type { Fields } from "../../src/door/resources.ts";
import { emptyStore, sharedDatabase } from "../harness/test-store.ts";

// Custom code may throw any value, and reading the value may throw again.

const fail = (): never => {
  throw new Error("reading it throws");
};
const withMember = (name: string, descriptor: PropertyDescriptor): Error =>
  Object.defineProperty(new Error("told"), name, descriptor);
const thrown: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  "a text": () => "gone",
  "a symbol": () => Symbol("gone"),
  "a frozen object": () => Object.freeze({}),
  "an object without a prototype": () => Object.create(null),
  "an object that cannot be converted to text": () => ({ toString: fail }),
  "a proxy that throws on every access": () =>
    new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail, getOwnPropertyDescriptor: fail }),
  "an error behind a proxy": () => new Proxy(new Error("gone"), { get: fail }),
  "a frozen error": () => Object.freeze(new Error("told")),
  "an error whose stack throws": () => withMember("stack", { get: fail }),
  "an error whose stack is no text": () => withMember("stack", { value: { toString: fail } }),
  "an error whose message throws": () => withMember("message", { get: fail }),
};

const note = defineResource({ name: "note", fields: { body: text() } });

for (const [what, make] of Object.entries(thrown))
  test(`answers 500 if custom code throws ${what}, and reports the fault with the request id`, async (t) => {
    const boom = (): never => {
      throw make();
    };
    const broken: Format = {
      mediaType: "text/broken",
      problemMediaType: "text/broken",
      tagSuffix: "-broken",
      write: boom,
      writeProblem: boom,
      read: boom,
    };
    const printed: string[] = [];
    t.mock.method(process.stderr, "write", (chunk: string) => printed.push(chunk) > 0);
    const logged: string[] = [];
    const log = makeLog("error", (line) => logged.push(line))!;
    const service = await createService({
      store: await emptyStore(),
      mounts: [
        mount(note, { permission: anyone }),
        mount(defineResource({ name: "hooked", fields: { body: text() } }), { permission: anyone, beforeWrite: boom }),
      ],
      endpoints: [
        defineEndpoint({ method: "GET", path: "/sync", access: anyone, handle: boom }),
        defineEndpoint({ method: "GET", path: "/late", access: anyone, handle: async () => boom() }),
      ],
      schemes: [{ name: "trap", carriers: [{ in: "header", name: "X-Trap" }], authenticate: boom }],
      formats: [broken],
      features: [defineFeature({ name: "log", setUp: () => ({ offer: null, observe: log.observe }) })],
    });
    t.after(() => service.close());
    const rows: readonly (readonly [method: string, path: string, headers: Readonly<Record<string, string>>])[] = [
      ["GET", "/sync", {}],
      ["GET", "/late", {}],
      ["POST", "/hookeds", { "content-type": "application/json" }],
      ["POST", "/notes", { "content-type": "text/broken" }],
      ["GET", "/notes", { accept: "text/broken" }],
      ["GET", "/nowhere", { accept: "text/broken" }],
      ["GET", "/notes", { "x-trap": "a" }],
    ];

    for (const [method, path, headers] of rows) {
      const body = method === "POST" ? { body: '{"body":"a"}' } : {};
      const request = new Request(`http://a${path}`, { method, headers, ...body });
      const answer = await service.fetch(request, { peer: "127.0.0.1" });
      const { code, request_id: id } = (await answer.json()) as { code: string; request_id: string };
      assert.deepEqual([answer.status, code], [500, "internal"], path);
      assert.ok(
        printed.some((each) => each.includes(`request id ${id}`)),
        path,
      );
      assert.ok(
        logged.some((line) => line.includes(`"fault","request_id":"${id}"`)),
        path,
      );
    }
    assert.equal(await service.store.count(service.mounts[0]!.collection, null), 0);
  });

test("reports every value that a feature throws at its start, with the name of the feature", async () => {
  for (const make of Object.values(thrown))
    for (const step of ["setUp", "start"] as const) {
      const boom = (): never => {
        throw make();
      };
      const parts = { offer: null, start: boom };
      const mine = defineFeature({ name: "mine", setUp: () => (step === "setUp" ? boom() : parts) });
      const started = createService({ store: await emptyStore(), features: [mine] });

      await assert.rejects(started, new RegExp(`feature mine: ${step} threw `));
    }
});

test("keeps an event and stores an error text even if its subscriber throws an unreadable value", async (t) => {
  for (const make of Object.values(thrown)) {
    let tries = 0;
    const events = outbox({
      subscribers: [
        {
          name: "mail",
          to: [note],
          deliver() {
            tries++;
            throw make();
          },
        },
      ],
    });
    const store = await emptyStore();
    const service = await createService({
      store,
      observe: null,
      mounts: [mount(note, { permission: anyone })],
      features: [events],
    });
    t.after(() => service.close());
    const body = JSON.stringify({ body: "a" });
    const headers = { "content-type": "application/json" };
    await service.fetch(new Request("http://a/notes", { method: "POST", headers, body }), { peer: "127.0.0.1" });

    await service.use(events).deliverDue();

    const { collection } = service.mounts.find(({ resource }) => resource.plural === "outbox")!;
    const [event] = await store.list({ collection, where: null, sort: [], limit: 2 });
    assert.equal(tries, 1);
    assert.equal(event!.record["attempts"], 1);
    assert.equal(typeof event!.record["error"], "string");
  }
});

test("reports a fault that names the custom limit or format whose result is wrong", async (t) => {
  const rejected: unknown[] = [];
  const hear = (reason: unknown): void => void rejected.push(reason);
  process.on("unhandledRejection", hear);
  t.after(() => process.off("unhandledRejection", hear));
  const faults: string[] = [];
  for (const give of [() => 5, () => undefined, () => ({}), () => Promise.reject(new Error("later"))]) {
    const own: Format = {
      mediaType: "text/own",
      problemMediaType: "text/own",
      tagSuffix: "-own",
      write: () => "a",
      writeProblem: () => "a",
      read: () => give() as never,
    };
    const service = await createService({
      store: await emptyStore(),
      mounts: [mount(note, { permission: anyone })],
      formats: [own],
      features: [
        rateLimits({
          limits: [{ name: "few", by: () => give() as never, limit: 9, windowSeconds: 60, actions: ["list"] }],
        }),
      ],
      observe: (each) => void (each.kind === "fault" && faults.push(String(each.error))),
    });
    t.after(() => service.close());
    const written = { method: "POST", headers: { "content-type": "text/own" }, body: "a" };
    for (const init of [{}, written]) {
      const answer = await service.fetch(new Request("http://a/notes", init), { peer: "127.0.0.1" });
      assert.equal(answer.status, 500);
    }
  }

  await new Promise(setImmediate);
  assert.deepEqual(rejected, []);
  assert.deepEqual(faults, [
    "TypeError: by of the limit few gave a number; it has to give a text, or null",
    "TypeError: The format text/own read a number; it has to give { value, typed }",
    "TypeError: by of the limit few gave missing; it has to give a text, or null",
    "TypeError: The format text/own read missing; it has to give { value, typed }",
    "TypeError: by of the limit few gave an object; it has to give a text, or null",
    "TypeError: The format text/own read an object; it has to give { value, typed }",
    "TypeError: by of the limit few gave a promise; it has to give its value at once",
    "Error: later",
  ]);
});

test("stops the start if a convert or a backfill returns a promise, and leaves the rows unchanged", async (t) => {
  const rejected: unknown[] = [];
  const hear = (reason: unknown): void => void rejected.push(reason);
  process.on("unhandledRejection", hear);
  t.after(() => process.off("unhandledRejection", hear));
  const database = await sharedDatabase(t);
  const startWith = (fields: Fields) =>
    createService({
      store: database.open(),
      mounts: [mount(defineResource({ name: "note", fields }), { permission: anyone })],
      observe: null,
    });
  const later = (async () => {
    throw new Error("later");
  }) as never;
  const first = await startWith({ body: text() });
  const sent = { method: "POST", headers: { "content-type": "application/json" }, body: '{"body":"a"}' };
  await first.fetch(new Request("http://a/notes", sent), { peer: "127.0.0.1" });
  await first.close();

  await assert.rejects(startWith({ body: json({ convert: later }) }), /notes\.body .*convert gave a promise/);
  await assert.rejects(
    startWith({ body: text(), meta: json({ backfill: later }) }),
    /notes\.meta .*backfill gave a promise/,
  );

  await new Promise(setImmediate);
  assert.deepEqual(rejected, []);
  const again = await startWith({ body: text() });
  t.after(() => again.close());
  const { collection } = again.mounts[0]!;
  const rows = await again.store.list({ collection, where: null, sort: [], limit: 9 });
  assert.deepEqual(
    rows.map(({ record }) => record["body"]),
    ["a"],
  );
});
