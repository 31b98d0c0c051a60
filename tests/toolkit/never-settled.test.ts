import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Format } from "../../src/door/http.ts";
import {
  anyone,
  createService,
  defineEndpoint,
  defineFeature,
  defineResource,
  listen,
  mount,
  Secret,
  text,
} from "../../src/door/index.ts";
import type { Observation } from "../../src/door/ops.ts";
import { postgresStore, sqliteStore, type Store } from "../../src/door/stores.ts";
import { startPostgres } from "../harness/postgres.ts";

// Custom code may wait for a promise that never settles. The caller still gets a response, and everything that the
// request held is released.

let callCount = 0;
const never = (): Promise<never> => {
  callCount++;
  return new Promise(() => undefined);
};
const permission = anyone;
const named = <const N extends string>(name: N) => defineResource({ name, fields: { body: text() } });
const write = { method: "POST", body: '{"body":"a"}', headers: { "content-type": "application/json" } };

const stuck: Format = {
  mediaType: "text/stuck",
  problemMediaType: "text/stuck",
  tagSuffix: "-stuck",
  write: never,
  writeProblem: never,
  read: never,
};
const mounts = [
  mount(named("plain"), { permission }),
  mount(named("hooked"), { permission, beforeWrite: never }),
  mount(named("completed"), { permission, beforeWrite: () => ({ complete: never }) }),
  mount(named("acting"), { permission, actions: { cancel: { on: "collection", permission, handle: never } } }),
];
const rows: readonly (readonly [what: string, path: string, init: RequestInit, told: RegExp])[] = [
  ["a handler", "/stuck", {}, /^The handler of GET \/stuck has not finished after 7 s/],
  ["a hook", "/hookeds", write, /^beforeWrite of \/hookeds has not finished/],
  [
    "a callback that completes a write",
    "/completeds",
    write,
    /^complete of a beforeWrite of \/completeds has not finished/,
  ],
  ["an action", "/actings/cancel", { ...write, body: "{}" }, /^The action cancel of \/actings has not finished/],
  ["a scheme", "/plains", { headers: { "x-stuck": "a" } }, /^The scheme stuck has not finished/],
  [
    "a format that writes",
    "/plains",
    { headers: { accept: "text/stuck" } },
    /^The format text\/stuck has not finished/,
  ],
  [
    "a format that reads",
    "/plains",
    { ...write, headers: { "content-type": "text/stuck" } },
    /^The format text\/stuck/,
  ],
  ["a format that writes a problem", "/no", { headers: { accept: "text/stuck" } }, /^The format text\/stuck/],
  ["a limiter", "/plains", { headers: { "x-limit": "a" } }, /^A limiter of requests has not finished/],
];

async function startService(store: Store, observed: Observation[]) {
  return createService({
    store,
    handlerTimeoutSeconds: 7,
    schemes: [
      {
        name: "stuck",
        carriers: [{ in: "header", name: "X-Stuck" }],
        authenticate: never,
      },
    ],
    mounts,
    endpoints: [defineEndpoint({ method: "GET", path: "/stuck", access: anyone, handle: never })],
    formats: [stuck],
    features: [
      defineFeature({
        name: "limit",
        setUp: () => ({
          offer: null,
          limiter: {
            arriving: ({ call }) => (call.header("x-limit") === undefined ? [] : never()),
            identified: () => [],
          },
        }),
      }),
    ],
    observe: (each) => void observed.push(each),
  });
}

const server = await startPostgres();
after(() => server.stop());
const stores: Readonly<Record<string, () => Promise<Store>>> = {
  SQLite: async () => sqliteStore({ path: ":memory:" }),
  PostgreSQL: async () => postgresStore({ url: new Secret(await server.makeDatabase()), poolSize: 2 }),
};

/** Waits for five rounds of the event loop, so that everything that is ready runs. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

for (const [database, makeStore] of Object.entries(stores))
  test(
    `answers 503 if custom code waits for a promise that never settles, names the code in a fault, and releases the request (${database})`,
    { timeout: 30_000 },
    async (t) => {
      const observed: Observation[] = [];
      const service = await startService(await makeStore(), observed);
      t.after(() => service.close());
      const ask = (path: string, init: RequestInit) =>
        service.fetch(new Request(`http://a${path}`, init), { peer: "127.0.0.1" });

      t.mock.timers.enable({ apis: ["setInterval"] });
      for (const [what, path, init, pattern] of rows) {
        observed.length = 0;
        callCount = 0;
        const answer = ask(path, init);
        // PostgreSQL answers after some time, so the custom code is not called at once.
        for (let look = 0; look < 2000 && callCount === 0; look++) await wait(5);
        await settle();
        t.mock.timers.tick(6000);
        await settle();
        assert.equal(service.inFlight(), 1, what);
        t.mock.timers.tick(2000);
        const response = await answer;
        const problem = (await response.json()) as { code: string; request_id: string };

        assert.deepEqual([response.status, problem.code], [503, "unavailable"], what);
        assert.equal(response.headers.get("retry-after"), "5");
        assert.equal(service.inFlight(), 0, what);
        const [fault] = observed.filter(({ kind }) => kind === "fault");
        assert.ok(fault?.kind === "fault" && fault.error instanceof Error, what);
        assert.match(fault.error.message, pattern);
        assert.equal(fault.requestId, problem.request_id);
        assert.equal(observed.filter(({ kind }) => kind === "request").length, 1, what);
      }
      assert.equal((await ask("/plains", write)).status, 201);
      for (const { collection } of mounts.slice(1)) assert.equal(await service.store.count(collection, null), 0);
    },
  );

test("writes nothing if a hook's promise settles after the caller got a response", { timeout: 30_000 }, async (t) => {
  let goOn: (prepared: object) => void = () => undefined;
  const notes = mount(named("note"), {
    permission,
    beforeWrite: () => new Promise<object>((resolve) => (goOn = resolve)),
  });
  const observed: Observation[] = [];
  const service = await createService({
    store: sqliteStore({ path: ":memory:" }),
    mounts: [notes],
    handlerTimeoutSeconds: 1,
    observe: (each) => void observed.push(each),
  });
  t.after(() => service.close());
  t.mock.timers.enable({ apis: ["setInterval"] });

  const answer = service.fetch(new Request("http://a/notes", write), { peer: "127.0.0.1" });
  await settle();
  t.mock.timers.tick(3000);
  assert.equal((await answer).status, 503);
  goOn({});
  await settle();

  assert.equal(await service.store.count(notes.collection, null), 0);
  assert.deepEqual(
    observed.map(({ kind }) => kind),
    ["fault", "request"],
  );
});

test(
  "lets other writers of a record continue while the hook of one write never finishes",
  { timeout: 30_000 },
  async (t) => {
    let changed = 0;
    const notes = mount(named("note"), {
      permission,
      // The first writes of `a` and `b` conflict. The write of `b` is tried again, and its hook then never finishes.
      beforeWrite: async ({ kind, context }) => {
        if (kind !== "update") return {};
        const who = context.call.header("x-who");
        if (++changed <= 2) await new Promise((resolve) => setTimeout(resolve, 20));
        else if (who === "b") await never();
        return {};
      },
    });
    const service = await createService({
      store: sqliteStore({ path: ":memory:" }),
      mounts: [notes],
      handlerTimeoutSeconds: 1,
      observe: null,
    });
    t.after(() => service.close());
    const ask = (method: string, path: string, who: string, body: string) =>
      service.fetch(
        new Request(`http://a${path}`, {
          method,
          body: JSON.stringify({ body }),
          headers: { "content-type": "application/json", "x-who": who },
        }),
        { peer: "127.0.0.1" },
      );
    assert.equal((await ask("POST", "/notes", "a", "a")).status, 201);

    const both = await Promise.all([ask("PATCH", "/notes/1", "a", "b"), ask("PATCH", "/notes/1", "b", "c")]);
    assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([200, 503]));
    const again = await Promise.all([ask("PATCH", "/notes/1", "a", "d"), ask("PATCH", "/notes/1", "c", "e")]);
    assert.deepEqual(
      again.map(({ status }) => status),
      [200, 200],
    );
  },
);

test("closes a listener after its grace period, even if a request never finishes", { timeout: 30_000 }, async (t) => {
  const service = await startService(sqliteStore({ path: ":memory:" }), []);
  const listener = await listen(service, { port: 0 });
  t.after(() => service.close());
  const pendingAnswer = fetch(`${listener.url}/stuck`).catch((error: unknown) => error);
  for (let turn = 0; turn < 1000 && service.inFlight() === 0; turn++) await settle();

  const startedAt = performance.now();
  await listener.close(0.2, 0);

  assert.ok(performance.now() - startedAt < 2000);
  assert.ok((await pendingAnswer) instanceof Error);
});
