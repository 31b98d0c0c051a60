import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import {
  createService,
  defineEndpoint,
  defineFeature,
  defineResource,
  mount,
  anyone,
  Secret,
  text,
  type Feature,
  type Service,
  type ServiceOptions,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { sqliteStore, StoreUnavailable, type Collection } from "../../src/door/stores.ts";
import { emptyStore } from "../harness/test-store.ts";

async function serve(t: TestContext, options: Omit<ServiceOptions, "store">): Promise<Service> {
  const service = await createService({ store: await emptyStore(), ...options });
  t.after(() => service.close());
  return service;
}

/** Returns the mistakes that prevent the start of a service. */
async function collectMistakes(options: Omit<ServiceOptions, "store">): Promise<readonly string[]> {
  try {
    await (await createService({ store: await emptyStore(), ...options })).close();
    return [];
  } catch (error) {
    assert.ok(error instanceof DeclarationError);
    return error.mistakes;
  }
}

const greeting = (path: string, word: () => string) =>
  defineEndpoint({
    method: "GET",
    path,
    access: "open",
    handle: () => ({ status: 200, body: { kind: "data", value: { word: word() }, element: "greeting" } }),
  });

const visitsCollection: Collection = {
  name: "visits",
  key: "integer",
  columns: [{ name: "at", type: "integer" }],
  indexes: [["at"]],
};

/** A feature that counts visitors. It offers a function that adds a visit. */
const visits = defineFeature({
  name: "visits",
  setUp: ({ store, now }) => ({
    offer: {
      come: () => store.write({ changes: [{ kind: "insert", collection: visitsCollection, values: { at: now() } }] }),
    },
    collections: [visitsCollection],
    upkeep: [
      {
        everySeconds: 2,
        due: (time) => [
          {
            kind: "deleteAll",
            collection: visitsCollection,
            where: { column: "at", operator: "lte", value: time - 1000 },
          },
        ],
      },
    ],
  }),
});

const door = defineFeature({
  name: "door",
  needs: [visits],
  setUp: (host) => {
    const { come } = host.use(visits);
    return {
      offer: null,
      endpoints: [
        defineEndpoint({
          method: "POST",
          path: "/door",
          access: "open",
          async handle() {
            await come();
            return { status: 204 };
          },
        }),
      ],
    };
  },
});

test("lets a feature use another feature, which may come later in the list", async (t) => {
  const service = await serve(t, { features: [door, visits] });

  const answer = await service.fetch(new Request("http://localhost/door", { method: "POST" }), { peer: "127.0.0.1" });

  assert.equal(answer.status, 204);
  assert.equal(await service.store.count(visitsCollection, null), 1);
  await service.use(visits).come();
  assert.equal(await service.store.count(visitsCollection, null), 2);
});

test("keeps the data of two services with the same features separate", async (t) => {
  const one = await serve(t, { features: [door, visits] });
  const other = await serve(t, { features: [visits, door] });

  await one.use(visits).come();

  assert.equal(await one.store.count(visitsCollection, null), 1);
  assert.equal(await other.store.count(visitsCollection, null), 0);
});

test("starts each feature after those that it needs, and stops the features in the reverse order", async () => {
  const steps: string[] = [];
  const telling = (name: string, needs: readonly Feature[]): Feature =>
    defineFeature({
      name,
      needs,
      setUp: () => ({
        offer: null,
        start: async () => void (await turn(), steps.push(`start ${name}`)),
        stop: async () => void (await turn(), steps.push(`stop ${name}`)),
      }),
    });
  const ground = telling("ground", []);
  const wall = telling("wall", [ground]);
  const roof = telling("roof", [wall, ground]);

  const service = await createService({ store: await emptyStore(), features: [roof, ground, wall] });
  await service.close();

  assert.deepEqual(steps, ["start ground", "start wall", "start roof", "stop roof", "stop wall", "stop ground"]);
});

test("stops the started features and closes the store if a later feature cannot start", async () => {
  const steps: string[] = [];
  const store = await emptyStore();
  const first = defineFeature({
    name: "first",
    setUp: () => ({ offer: null, stop: () => void steps.push("stopped") }),
  });
  const broken = defineFeature({
    name: "broken",
    needs: [first],
    setUp: () => ({
      offer: null,
      start() {
        throw new Error("no line");
      },
      stop: () => void steps.push("stopped what never started"),
    }),
  });

  await assert.rejects(createService({ store, features: [broken, first] }), /no line/);

  assert.deepEqual(steps, ["stopped"]);
  await assert.rejects(store.check());
});

test("reports a failed start or stop with the feature's name, and with the error as its cause", async () => {
  const fault = new Error("no line");
  const failing = (where: "start" | "stop", thrown: unknown): Feature => {
    const fail = async (): Promise<never> => {
      throw thrown;
    };
    const parts = { offer: null, ...(where === "start" ? { start: fail } : { stop: fail }) };
    return defineFeature({ name: "mail", setUp: () => parts });
  };
  const begin = async (feature: Feature): Promise<Service> =>
    createService({ store: await emptyStore(), features: [feature] });

  await assert.rejects(begin(failing("start", fault)), {
    message: "feature mail: start threw Error: no line",
    cause: fault,
  });
  await assert.rejects(begin(failing("start", "no line")), {
    message: "feature mail: start threw 'no line', which is no error",
    cause: "no line",
  });
  await assert.rejects(begin(failing("start", new DeclarationError(["the host is missing; name it"]))), {
    name: "DeclarationError",
    mistakes: ["feature mail: the host is missing; name it"],
  });
  // An error of the toolkit keeps its class, because other code recognizes the error by its class.
  await assert.rejects(begin(failing("start", new StoreUnavailable("gone"))), StoreUnavailable);
  const service = await begin(failing("stop", fault));
  await assert.rejects(service.close(), { message: "feature mail: stop threw Error: no line", cause: fault });
});

test("names a feature that does not finish its start", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const notices: string[] = [];
  const line = Promise.withResolvers<void>();
  const mail = defineFeature({ name: "mail", setUp: () => ({ offer: null, start: () => line.promise }) });
  const beginning = createService({
    // On SQLite alone: a connection to PostgreSQL needs the timers that this test stops.
    store: sqliteStore({ path: ":memory:" }),
    features: [mail],
    observe: (seen) => void (seen.kind === "notice" && notices.push(seen.message)),
  });
  await turn();

  t.mock.timers.tick(9_999);
  assert.deepEqual(notices, []);
  t.mock.timers.tick(1);
  assert.deepEqual(notices, ["feature mail: start has not finished after 10 s. No request is answered until it has."]);
  line.resolve();
  await (await beginning).close();
});

test("names a feature that does not stop, and closes the service anyway", async (t) => {
  const steps: string[] = [];
  const store = await emptyStore();
  const ground = defineFeature({
    name: "ground",
    setUp: () => ({ offer: null, stop: () => void steps.push("ground") }),
  });
  const mail = defineFeature({
    name: "mail",
    needs: [ground],
    setUp: () => ({ offer: null, stop: () => new Promise<void>(() => undefined) }),
  });
  const service = await createService({ store, features: [mail, ground] });

  t.mock.timers.enable({ apis: ["setTimeout"] });
  const closing = assert.rejects(service.close(), {
    message: "feature mail: stop threw Error: it has not finished after 5 s; the stop does not wait for it",
  });
  await turn();
  t.mock.timers.tick(5_000);
  await closing;

  assert.deepEqual(steps, ["ground"]);
  await assert.rejects(store.check());
});

test("reports all missing, duplicate and wrong parts of features together, with the place and the fix", async () => {
  const named = (name: string, parts: object = {}, needs: readonly Feature[] = []): Feature =>
    defineFeature({ name, needs, setUp: () => ({ offer: null, ...parts }) });
  const books = defineResource({ name: "book", fields: { title: text() } });
  const lonely = named("lonely", {}, [visits]);
  const secretive = defineFeature({ name: "secretive", setUp: ({ secret }) => ({ offer: secret.derive("key") }) });
  const sly = defineFeature({ name: "sly", setUp: (host) => ({ offer: host.use(door) }) });
  const twin = named("twin", { endpoints: [greeting("/books/{name:text}", () => "a")] });

  const mistakes = await collectMistakes({
    features: [
      lonely,
      secretive,
      sly,
      twin,
      named("twin"),
      named("other", { collections: [visitsCollection] }),
      named("third", { collections: [visitsCollection], endpoints: [greeting("/hello/", () => "b")] }),
    ],
    mounts: [mount(books, { permission: anyone })],
    endpoints: [greeting("/hello", () => "c")],
  });

  assert.deepEqual(mistakes, [
    "feature lonely needs visits, which is not in the list; add it",
    "two features are called twin; leave one out, or give it another name",
    "feature secretive: it needs the service's secret; give createService one: secret: new Secret(…)",
    "feature sly: it uses door, which is not in its needs; add it there",
    "the endpoint GET /books/{…} is there twice: in the feature twin and among the service's own; keep one",
    "the endpoint GET /hello is there twice: in the feature third and among the service's own; keep one",
    "the collection visits is there twice: in the feature other and in the feature third; keep one",
  ]);
});

test("reports a feature that was made twice, or is in the list twice", async () => {
  const again = defineFeature({ ...visits, needs: [] });

  assert.deepEqual(await collectMistakes({ features: [again, door] }), [
    "feature door needs visits, but the list has another instance of it; make one instance and use it in both places",
  ]);
  assert.deepEqual(await collectMistakes({ features: [visits, visits] }), [
    "feature visits is in the list twice; leave one out",
  ]);
});

test("passes the secret of the service to its features", async (t) => {
  const secretive = defineFeature({ name: "secretive", setUp: ({ secret }) => ({ offer: secret }) });
  const secret = new Secret("a secret of 32 characters or more.");

  const service = await serve(t, { features: [secretive], secret });

  assert.equal(service.use(secretive), secret);
  assert.throws(() => service.use(visits), /visits is not a feature of this service/);
});

test("deletes expired rows at the interval that the feature declares", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let now = 1_000_000;
  const service = await serve(t, { features: [visits], now: () => now });
  const count = () => service.store.count(visitsCollection, null);
  await service.use(visits).come();

  t.mock.timers.tick(1000);
  await settled(service);
  assert.equal(await count(), 1);

  now += 1000;
  t.mock.timers.tick(1000);
  await settled(service);
  assert.equal(await count(), 1);

  // On a slow machine, the run of the first tick may still be active. The upkeep then skips this tick and stays due.
  do {
    t.mock.timers.tick(1000);
    await settled(service);
  } while ((await count()) > 0);
});

/** Waits until the earlier writes are done, because the store answers each query only after the writes before it. */
async function settled({ store }: Service): Promise<void> {
  for (let turns = 0; turns < 50; turns++) {
    await turn();
    await store.count(visitsCollection, null);
  }
}

test("gives a feature access to the service only after all features are set up", async (t) => {
  const describing = defineFeature({
    name: "describing",
    setUp: (host) => ({
      offer: { paths: () => host.service().endpoints.map(({ path }) => path) },
      endpoints: [greeting("/about", () => String(host.service().inFlight()))],
    }),
  });
  const early = defineFeature({ name: "early", setUp: (host) => ({ offer: host.service() }) });

  const service = await serve(t, { features: [describing, visits, door] });

  assert.deepEqual(service.use(describing).paths(), ["/about", "/door"]);
  await assert.rejects(
    createService({ store: await emptyStore(), features: [early] }),
    /only after every feature is set up/,
  );
});

test("reports a value that is not a feature, and a feature whose setUp returns nothing", async () => {
  const rows: readonly (readonly [features: unknown, told: RegExp])[] = [
    [[null], /features\[0\] is null; make one with defineFeature/],
    [
      [{}],
      /features\[0\]: name is missing; it has to be lower-case words joined by hyphens, like audit-trail\n.*needs is missing; .*\n.*setUp is missing/,
    ],
    [
      [{ name: "a", needs: [], setUp: () => undefined }],
      /feature a: setUp gave nothing; it has to give \{ offer: … \}/,
    ],
  ];
  for (const [features, pattern] of rows)
    await assert.rejects(
      createService({ store: await emptyStore(), features: features as readonly Feature[] }),
      pattern,
    );
});

test("collects the login links (`loginLinks`) of all features, and refuses paths that lead to another site", async (t) => {
  const featureWith = (name: string, href: string) =>
    defineFeature({ name, setUp: () => ({ offer: null, loginLinks: [{ title: name, href }] }) });
  const reader = defineFeature({
    name: "reader",
    setUp: ({ service }) => ({ offer: { read: () => service().loginLinks } }),
  });
  const features = [featureWith("one", "/api/login/one/start"), reader, featureWith("two", "/two")];
  const service = await serve(t, { features });
  assert.deepEqual(service.use(reader).read(), [
    { title: "one", href: "/api/login/one/start" },
    { title: "two", href: "/two" },
  ]);

  for (const href of [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "/a?next=/b",
    "",
  ])
    assert.match((await collectMistakes({ features: [featureWith("bad", href)] })).join(), /loginLinks.*path/, href);
});
