import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import {
  metrics,
  outbox,
  type Outbox,
  type OutboxOptions,
  type RecordEvent,
  type Subscriber,
} from "../../src/door/features.ts";
import {
  accepted,
  authenticated,
  createService,
  defineFeature,
  defineResource,
  mount,
  problem,
  Secret,
  text,
  type Feature,
  type Scheme,
  type Service,
} from "../../src/door/index.ts";
import { DeclarationError, type Mount } from "../../src/door/resources.ts";
import { postgresStore, sqliteStore, type Store } from "../../src/door/stores.ts";
import { startPostgres, testsOnPostgres } from "../harness/postgres.ts";

const notes = defineResource({ name: "note", fields: { body: text() } });
const silent = defineResource({ name: "draft", fields: { body: text() } });

/** Accepts every caller as an administrator, with the name in the header. */
const visitor: Scheme = {
  name: "visitor",
  carriers: [{ in: "header", name: "X-Visitor" }],
  challenge: () => "Visitor",
  authenticate: (name) =>
    accepted({ id: 7, username: name, role: "admin", scheme: "visitor", scopes: null, expiresAt: null }),
};

interface Running {
  readonly service: Service;
  readonly events: Feature<Outbox>;
  ask(method: string, path: string, body?: unknown): Promise<Response>;
  deliver(): Promise<void>;
  waiting(): Promise<readonly Record<string, unknown>[]>;
  readonly clock: { now: number };
}

async function run(
  t: TestContext,
  options: OutboxOptions,
  store: Store = sqliteStore({ path: ":memory:" }),
): Promise<Running> {
  // Deliveries happen only when a test requests them.
  if (!timersStand.has(t)) t.mock.timers.enable({ apis: ["setInterval"] });
  timersStand.add(t);
  const clock = { now: Date.parse("2026-01-31T09:30:00Z") };
  const events = outbox(options);
  const service = await createService({
    store,
    features: [events, metrics()],
    schemes: [visitor],
    mounts: [
      mount(notes, {
        permission: authenticated,
        beforeWrite: ({ draft }) => {
          if (draft?.values.body === "refused") throw problem("conflict");
          return {};
        },
      }),
      mount(silent, { permission: authenticated }),
    ],
    observe: null,
    now: () => clock.now,
  });
  t.after(() => service.close());
  const ask = (method: string, path: string, body?: unknown): Promise<Response> =>
    service.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { "x-visitor": "ada", "content-type": "application/json", "x-request-id": "of-a-test" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: null },
    );
  return {
    service,
    events,
    ask,
    clock,
    deliver: () => service.use(events).deliverDue(),
    waiting: async () => (await (await ask("GET", "/outbox?limit=1000")).json()) as readonly Record<string, unknown>[],
  };
}

/** The tests whose timers are mocked already. The mock of a test ends with that test. */
const timersStand = new WeakSet<TestContext>();

async function stores(t: TestContext): Promise<readonly Store[]> {
  if (testsOnPostgres) return [sqliteStore({ path: ":memory:" })];
  const server = await startPostgres();
  t.after(() => server.stop());
  return [sqliteStore({ path: ":memory:" }), postgresStore({ url: new Secret(await server.makeDatabase()) })];
}

test("delivers every write once to each subscriber, with its cause, and then deletes the events", async (t) => {
  for (const store of await stores(t)) {
    const deliveries: RecordEvent[] = [];
    const names: string[] = [];
    const subscriber = (name: string) => ({
      name,
      to: [notes],
      deliver: (event: RecordEvent) => void (deliveries.push(event), names.push(name)),
    });
    const { ask, deliver, waiting } = await run(
      t,
      { subscribers: [subscriber("mail"), subscriber("search-index")] },
      store,
    );

    assert.equal((await ask("POST", "/notes", { body: "one" })).status, 201);
    assert.equal((await ask("PUT", "/notes/1", { body: "two" })).status, 200);
    assert.equal((await ask("PATCH", "/notes/1", { body: "three" })).status, 200);
    assert.equal((await ask("PUT", "/notes/9", { body: "nine" })).status, 201);
    assert.equal((await ask("DELETE", "/notes/1")).status, 204);
    assert.equal((await ask("POST", "/notes", { body: "refused" })).status, 409);
    assert.equal((await ask("POST", "/notes", { wrong: 1 })).status, 400);
    assert.equal((await ask("POST", "/drafts", { body: "nobody is told" })).status, 201);
    await deliver();

    const of = (name: string): unknown[] =>
      deliveries.filter((_, at) => names[at] === name).map(({ kind, resource, record }) => [kind, resource, record]);
    const expected = [
      ["create", "notes", 1],
      ["replace", "notes", 1],
      ["update", "notes", 1],
      ["create", "notes", 9],
      ["delete", "notes", 1],
    ];
    assert.deepEqual(of("mail"), expected);
    assert.deepEqual(of("search-index"), expected);
    assert.equal(deliveries[0]!.cause.userId, 7);
    assert.equal(deliveries[0]!.cause.scheme, "visitor");
    assert.equal(deliveries[0]!.cause.requestId, "of-a-test");
    assert.equal(deliveries[0]!.attempt, 1);
    assert.deepEqual(await waiting(), []);
  }
});

test("retries a failed delivery with growing delays, then keeps it until a person retries it", async (t) => {
  const tries: number[] = [];
  let works = false;
  const { ask, deliver, waiting, clock } = await run(t, {
    attempts: 3,
    random: () => 1,
    subscribers: [
      {
        name: "mail",
        to: [notes],
        deliver({ attempt }) {
          tries.push(attempt);
          if (!works) throw new Error("The line\nis dead.");
        },
      },
    ],
  });
  /** Returns the values of `/metrics` about deliveries. */
  const counted = async (): Promise<readonly string[]> => {
    const text = await (await ask("GET", "/metrics")).text();
    return Array.from(
      text.matchAll(/^api_outbox_deliveries_total\{outcome="(\w+)"\} (\d+)$/gm),
      (found) => `${found[1]} ${found[2]}`,
    );
  };
  await ask("POST", "/notes", { body: "one" });

  for (const seconds of [0, 0.9, 0.1, 1.9, 0.1, 3600]) {
    clock.now += seconds * 1000;
    await deliver();
  }

  assert.deepEqual(tries, [1, 2, 3]);
  assert.deepEqual(await counted(), ["delivered 0", "postponed 2", "failed 1"]);
  const [failedEvent] = await waiting();
  assert.deepEqual(
    [failedEvent!["failed"], failedEvent!["attempts"], failedEvent!["error"], failedEvent!["receiver"]],
    [true, 3, "Error: The line is dead.", "mail"],
  );
  works = true;
  assert.equal((await ask("POST", `/outbox/${String(failedEvent!["id"])}/retry`)).status, 204);
  await deliver();
  assert.deepEqual(tries, [1, 2, 3, 1]);
  assert.deepEqual(await counted(), ["delivered 1", "postponed 2", "failed 1"]);
  assert.deepEqual(await waiting(), []);
  assert.equal((await ask("POST", "/outbox/99/retry")).status, 404);
});

test("stops waiting for a subscriber that hangs, and keeps its event", async (t) => {
  const { ask, deliver, waiting } = await run(t, {
    timeoutSeconds: 0.05,
    subscribers: [{ name: "mail", to: [notes], deliver: () => new Promise(() => undefined) }],
  });
  await ask("POST", "/notes", { body: "one" });

  await deliver();

  assert.equal((await waiting())[0]!["error"], "Error: It took too long.");
});

test("delivers all events to the other subscribers while one subscriber hangs", async (t) => {
  const deliveries: number[] = [];
  const hanging = new Set<number>();
  const over = Promise.withResolvers<void>();
  const { ask, deliver, waiting, service, events } = await run(t, {
    subscribers: [
      { name: "webhook", to: [notes], deliver: ({ id }) => (hanging.add(id), over.promise) },
      { name: "mail", to: [notes], deliver: ({ record }) => void deliveries.push(Number(record)) },
    ],
  });
  const ids = Array.from({ length: 40 }, (_, at) => at + 1);
  for (const id of ids) await ask("POST", "/notes", { body: String(id) });

  const delivering = deliver();
  while (deliveries.length < ids.length) await new Promise((resolve) => setImmediate(resolve));
  await ask("POST", "/notes", { body: "41" });
  const more = service.use(events).deliverDue();
  while (deliveries.length < 41) await new Promise((resolve) => setImmediate(resolve));

  assert.deepEqual(
    deliveries.toSorted((a, b) => a - b),
    [...ids, 41],
  );
  assert.equal(hanging.size, 16, "at most 16 deliveries to one subscriber are under way");
  over.resolve();
  await Promise.all([delivering, more]);
  assert.deepEqual(await waiting(), []);
  assert.equal(hanging.size, 41);
});

test("delivers in one process at a time, and in another process after the lease of the first has expired", async (t) => {
  const deliveries: string[] = [];
  const subscribers = (who: string): OutboxOptions => ({
    subscribers: [{ name: "mail", to: [notes], deliver: () => void deliveries.push(who) }],
  });
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-outbox-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, "a.db");
  const one = await run(t, subscribers("one"), sqliteStore({ path: file }));
  // Takes the lease before the other process exists. On a busy machine, that process could otherwise take it first.
  await one.ask("POST", "/notes", { body: "a" });
  await one.deliver();
  const other = await run(t, subscribers("other"), sqliteStore({ path: file }));

  await other.ask("POST", "/notes", { body: "b" });
  await other.deliver();
  assert.deepEqual(deliveries, ["one"]);
  await one.deliver();
  assert.deepEqual(deliveries, ["one", "one"]);

  await other.ask("POST", "/notes", { body: "c" });
  other.clock.now += 120_000;
  await other.deliver();
  assert.deepEqual(deliveries, ["one", "one", "other"]);
});

test("stops the start for wrong subscribers, and reports all mistakes together", async () => {
  const wrong = outbox({
    attempts: 0,
    subscribers: [
      { name: "Mail", to: [notes], deliver: () => undefined },
      { name: "index", to: [], deliver: () => undefined },
      { name: "index", to: [notes], deliver: () => undefined },
    ],
  });

  await assert.rejects(
    createService({ store: sqliteStore({ path: ":memory:" }), features: [wrong] }),
    (error: unknown) => {
      assert.ok(error instanceof DeclarationError);
      assert.equal(error.mistakes.length, 4);
      return true;
    },
  );
});

test("lets a feature add a subscriber, which receives the store of its service", async () => {
  const deliveries: string[] = [];
  const events = outbox();
  const mounted = mount(notes, { permission: authenticated });
  const reader = defineFeature({
    name: "reader",
    needs: [events],
    setUp(host) {
      host.use(events).subscribe({
        name: "reader",
        to: [notes],
        async deliver({ record }, { store, signal }) {
          const row = await store.find(mounted.collection, record ?? 0);
          deliveries.push(`${host.name} ${String(row?.record["body"])} ${signal.aborted}`);
        },
      });
      return { offer: null };
    },
  });
  const features = [reader, events];
  const made = [];
  for (const name of ["one", "other"]) {
    const store = sqliteStore({ path: ":memory:" });
    made.push(await createService({ name, store, features, mounts: [mounted], schemes: [visitor] }));
  }
  for (const service of made) {
    const headers = { "x-visitor": "ada", "content-type": "application/json" };
    const body = JSON.stringify({ body: `of ${service.use(events) === made[0]?.use(events) ? "one" : "other"}` });
    const answer = await service.fetch(new Request("http://localhost/notes", { method: "POST", headers, body }), {
      peer: null,
    });
    assert.equal(answer.status, 201);
    await service.use(events).deliverDue();
  }
  assert.deepEqual(deliveries, ["one of one false", "other of other false"]);
  for (const service of made) await service.close();
});

test("stops the start for an outbox without subscribers, and for a wrong subscription", async () => {
  const events = outbox({ subscribers: [{ name: "mail", to: [notes], deliver: () => undefined }] });
  const subscribes = (name: string, subscriber: Subscriber): Feature =>
    defineFeature({
      name,
      needs: [events],
      setUp(host) {
        host.use(events).subscribe(subscriber);
        return { offer: null };
      },
    });
  const start = (features: readonly Feature[], mounts: readonly Mount[]): Promise<unknown> =>
    createService({ store: sqliteStore({ path: ":memory:" }), features, mounts });
  const mounted = [mount(notes, { permission: authenticated })];

  await assert.rejects(start([outbox()], mounted), /feature outbox: there is no subscriber and no worker/);
  const wrong: object = { name: "index", to: [notes], delivr: () => undefined };
  await assert.rejects(
    start(
      [
        events,
        subscribes("a", { name: "mail", to: [notes], deliver: () => undefined }),
        subscribes("b", wrong as Subscriber),
        subscribes("c", { name: "trail", to: [silent], deliver: () => undefined }),
      ],
      mounted,
    ),
    (error: unknown) => {
      assert.ok(error instanceof DeclarationError);
      const all = error.mistakes.join("\n");
      assert.match(all, /feature a: the subscriber mail: the name is there twice/);
      assert.match(all, /feature b: the subscriber index: there is no option delivr; did you mean deliver\?/);
      return true;
    },
  );
  await assert.rejects(
    start([events, subscribes("c", { name: "trail", to: [silent], deliver: () => undefined })], mounted),
    /the subscriber trail names \/drafts, which is not mounted/,
  );
});
