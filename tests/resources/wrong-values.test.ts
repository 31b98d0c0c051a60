import assert from "node:assert/strict";
import { test } from "node:test";
import { callerField, defineUsers, issuerLogin, sameAs } from "../../src/door/auth.ts";
import { consolePages, documentation, health, outbox, rateLimits } from "../../src/door/features.ts";
import type { Format } from "../../src/door/http.ts";
import * as latchkey from "../../src/door/index.ts";
import {
  accounts,
  anyone,
  createService,
  defineEndpoint,
  defineFeature,
  defineResource,
  mount,
} from "../../src/door/index.ts";
import { integer, listen, problem, Secret, sessionLogin, text, tokenLogin } from "../../src/door/index.ts";
import { array, DeclarationError, defineField } from "../../src/door/resources.ts";
import { postgresStore, sqliteStore, type Change, type Collection } from "../../src/door/stores.ts";
import { createLatchkey, readSettings } from "../../src/service/service.ts";
import { callOf } from "../../src/testing/testing.ts";

// On SQLite alone: these services are refused before they open their store.

// `Loose` lets wrong values compile, as they do in JavaScript. No service may start with such a value, and the error
// must come from the toolkit, not from Node.
type Loose = never;

const people = accounts();
const secret = new Secret("a secret of 32 characters or more.");
const books = defineResource({ name: "book", fields: { title: text(), owner_id: integer() } });
const pages = defineResource({ name: "page", within: books, fields: { body: text() } });
const lines = defineResource({ name: "line", within: pages, fields: { body: text() } });
const memory = () => sqliteStore({ path: ":memory:" });
const start = async (options: object): Promise<void> => (await createService({ store: memory(), ...options })).close();
const withFeatures = (...features: unknown[]): Promise<void> => start({ secret, features: [people, ...features] });
const part = (parts: object): Promise<void> =>
  start({ features: [defineFeature({ name: "a", setUp: () => ({ offer: null, ...parts }) as Loose })] });
const table = (columns: readonly object[]): Promise<void> =>
  start({ collections: [{ name: "visits", key: "integer", columns }] });
const loose: Readonly<Record<string, unknown>> = latchkey;
const call = (name: string, ...inputs: readonly unknown[]): unknown =>
  (loose[name] as (...parameters: readonly unknown[]) => unknown)(...inputs);
const withField = (field: unknown) => defineResource({ name: "a", fields: { f: field as Loose } });
const format = {
  mediaType: "text/x",
  problemMediaType: "text/x",
  tagSuffix: "-x",
  write: String,
  writeProblem: String,
};

const rows: readonly (readonly [what: string, run: () => unknown, told: RegExp])[] = [
  ["missing options", () => call("createService"), /createService: its options are missing/],
  [
    "a store without functions",
    () => start({ store: { open: 1 } }),
    /store is an object; .*it has no function open, find/,
  ],
  ["features that are not a list", () => start({ features: {} }), /features is an object; it has to be a list/],
  ["a throttle without functions", () => start({ throttle: {} }), /throttle is an object; .*it has no function check/],
  ["a number as a tracer", () => start({ tracer: 5 }), /tracer is 5; it has to be the result of openTelemetry\(\)/],
  ["an observer that is not a function", () => start({ observe: {} }), /observe is an object; it has to be a function/],
  [
    "a wrong base path and a wrong hsts",
    () => start({ basePath: 5, hsts: "hots" }),
    /hsts is 'hots'.*\n.*basePath is 5/,
  ],
  [
    "a trusted proxy that is not an address",
    () => start({ trustedProxies: ["10.0.0.0/33"] }),
    /createService: trustedProxies is a list; "10\.0\.0\.0\/33" is neither/,
  ],
  [
    "two mistakes in a carrier",
    () =>
      start({
        schemes: [{ name: "a", carriers: [{ in: "cookie", nmae: "a", hostprefix: true }], authenticate: String }],
      }),
    /carriers\[0\]: there is no option nmae; did you mean name\?; carriers\[0\]: there is no option hostprefix/,
  ],
  [
    "a second format for JSON",
    () => start({ formats: [{ ...format, mediaType: "application/json" }] }),
    /it is the default format/,
  ],
  [
    "a format for XML without `read`",
    () => start({ formats: [{ ...format, mediaType: "application/xml" }] }),
    /give it a read/,
  ],
  [
    "two formats with the same tag suffix",
    () => start({ formats: [{ ...format, tagSuffix: "-xml" }] }),
    /the tag suffix -xml is there twice/,
  ],
  [
    "two mistakes in columns",
    () =>
      table([
        { name: "at", tpye: "integer" },
        { name: "by", type: "intger" },
      ]),
    /at: there is no option tpye; did you mean type\?; at: type is missing.*by: type is 'intger'.*did you mean integer\?/,
  ],
  [
    "a reference to an unknown table",
    () => table([{ name: "at", type: "integer", references: { collection: "visit", onDelete: "cascade" } }]),
    /visits\.at: refers to visit, which is not declared; did you mean visits\?/,
  ],
  [
    "a misspelled option of a collection",
    () => memory().open([{ name: "a", key: "text", columns: [], indxes: [] } as Loose]),
    /collection a: there is no option indxes; did you mean indexes\?/,
  ],
  [
    "a URL of another database",
    () => postgresStore({ url: new Secret("mysql://a@b/c") }),
    /url is an object; it has to hold postgres:/,
  ],
  [
    "an object that is not a service",
    () => listen({} as Loose, { port: 0 }),
    /listen: the service is an object; make one/,
  ],
  [
    "an invalid certificate",
    async () => listen(await createService({ store: memory() }), { port: 0, tls: { cert: "a", key: "b" } }),
    /listen: OpenSSL refuses/,
  ],
  [
    "a minimum above the maximum",
    () =>
      defineResource({
        name: "a",
        fields: {
          one: text({ minLength: 3, maxLength: 2 }),
          two: integer({ minimum: 3, maximum: 2 }),
        },
      }),
    /one: .*minLength \(3\) or more\n.*two: .*minimum \(3\) or more/,
  ],
  [
    "a list with minItems above maxItems",
    () => withField(array(text(), { minItems: 3, maxItems: 2 })),
    /maxItems is 2; it has to be minItems \(3\) or more/,
  ],
  [
    "a decimal with a minimum above the maximum",
    () => withField(call("decimal", { scale: 2, minimum: "3", maximum: "2" })),
    /maximum is 2; it has to be minimum \(3\)/,
  ],
  [
    "an enumeration without words",
    () => withField(call("enumeration", [])),
    /resource a: field f: enumeration: it has no words/,
  ],
  ["a word twice", () => withField(call("enumeration", ["a", "a"])), /the word a is there twice/],
  ["words that are not a list", () => withField(call("enumeration", "a")), /its words are 'a', not a list/],
  ["a reference without a target", () => withField(call("reference")), /its target is missing/],
  [
    "a kind with wrong members",
    () =>
      defineResource({
        name: "a",
        fields: {
          one: defineField(
            { name: "x", parse: String, parseText: String, schema: {}, column: { tpye: "text" } } as Loose,
            {},
          ),
        },
      }),
    /column is an object; there is no option tpye; did you mean type\?; type is missing/,
  ],
  ["an empty permission", () => mount(books, { permission: {} }), /permission names no action/],
  [
    "a permission that is undefined",
    () => mount(books, { permission: { read: undefined } as Loose }),
    /permission\.read is missing; it has to be a permission/,
  ],
  [
    "a misspelled member of a permission",
    () => mount(books, { permission: { name: "mine", decide: () => "allow", narows: ["list"] } as Loose }),
    /there is no option narows; did you mean narrows\?/,
  ],
  ["allOf without permissions", () => call("allOf"), /allOf: it has no permissions/],
  ["anyOf with a text", () => call("anyOf", "x"), /anyOf: argument 1 is 'x'; it has to be a permission/],
  ["not without a permission", () => call("not"), /not: argument 1 is missing/],
  ["owner without a column", () => call("owner"), /owner: it names missing, and that is not a column/],
  ["a scope with a space", () => call("scope", "a b"), /scope: it names 'a b'/],
  ["an unknown problem", () => call("problem", "not_fund"), /there is no problem not_fund; did you mean not_found\?/],
  [
    "a misspelled option of a problem",
    () => call("problem", "not_found", { detial: "x" }),
    /there is no option detial; did you mean detail\?/,
  ],
  [
    "a missing definition of a problem",
    () => call("defineProblem"),
    /defineProblem: it is missing; it takes an object with code/,
  ],
  ["a number as a secret", () => new Secret(5 as Loose), /A secret is a text or bytes; this one is of type number/],
  [
    "a feature name with a space",
    () => start({ features: [defineFeature({ name: "A B", setUp: () => ({ offer: null }) })] }),
    /name is 'A B'; it has to be lower-case words/,
  ],
  [
    "an asynchronous setUp",
    () => start({ features: [defineFeature({ name: "a", setUp: async () => ({ offer: null }) } as Loose)] }),
    /feature a: setUp gave a promise/,
  ],
  [
    "a fault in setUp",
    () =>
      start({
        hsts: "hots",
        features: [
          defineFeature({
            name: "a",
            setUp: () => {
              throw new RangeError("no such room");
            },
          }),
        ],
      }),
    /hsts is 'hots'.*\n.*feature a: setUp threw RangeError: no such room$/,
  ],
  [
    "an empty list of limits",
    () => withFeatures(rateLimits({ limits: [] })),
    /feature rate-limits: limits is a list; .*one or more; leave the list out/,
  ],
  [
    "an empty list of subscribers",
    () => withFeatures(outbox({ subscribers: [] })),
    /feature outbox: subscribers .*one or more/,
  ],
  [
    "an empty list of issuers",
    () => withFeatures(issuerLogin(people, { issuers: [] })),
    /feature issuer-login: issuers is an empty list/,
  ],
  [
    "all mistakes that features find in other parts of the service",
    () =>
      start({
        secret,
        mounts: [mount(books, { permission: anyone })],
        features: [
          consolePages({ title: "A", templates: { "/boks/{id}": () => null, "/": () => null } }),
          rateLimits({ limits: [{ name: "few", by: "address", limit: 1, windowSeconds: 1, at: ["POST /boks"] }] }),
          outbox({ subscribers: [{ name: "mail", to: [pages], deliver: () => undefined }] }),
        ],
      }),
    /console: there is a template for \/boks\/\{id\}, but nothing is served there; did you mean \/books\/\{id\}\?\n.*template for \/, but.*\n.*limit few is for POST \/boks, which is not served; did you mean POST \/books\?\n.*mail names .*\/pages, which is not mounted/,
  ],
  [
    "mounts whose parent is not mounted",
    () => start({ hsts: "hots", mounts: [mount(pages, { permission: anyone }), mount(lines, { permission: anyone })] }),
    /hsts is 'hots'.*\n.*\/books\/\{book_id\}\/pages is nested in \/books, which is not mounted; mount books too/,
  ],
  [
    "a feature without an offer",
    () => start({ features: [defineFeature({ name: "a", setUp: () => ({}) } as Loose)] }),
    /offer is missing/,
  ],
  [
    "parts of a feature with wrong types",
    () => part({ start: 5, tags: [], limiter: {}, alongside: {}, problems: ["x"] }),
    /limiter is an object.*\n.*tags is a list.*\n.*alongside is an object.*\n.*problems is a list.*\n.*start is 5/,
  ],
  [
    "a use of the service during setUp",
    () => start({ features: [defineFeature({ name: "a", setUp: (host) => ({ offer: host.service() }) })] }),
    /feature a: the service exists only after/,
  ],
  [
    "an endpoint with invalid documentation for OpenAPI",
    () =>
      start({
        endpoints: [
          defineEndpoint({
            method: "GET",
            path: "/a",
            access: anyone,
            documentation: { summary: "a", responses: { abc: {} }, parameters: [{ nmae: "x" }] } as Loose,
            handle: () => ({ status: 204 }),
          }),
        ],
      }),
    /abc is not a status from 200 to 599; parameters is a list/,
  ],
  [
    "logins whose short lifetime is above the long one",
    () =>
      withFeatures(
        sessionLogin(people, { idleSeconds: 9, lifetimeSeconds: 5 }),
        tokenLogin(people, { accessSeconds: 9, refreshSeconds: 5 }),
      ),
    /session-login: idleSeconds \(9\) is longer than lifetimeSeconds \(5\).*\n.*token-login: accessSeconds \(9\) is longer/,
  ],
  [
    "an issuer without the required members",
    () => withFeatures(issuerLogin(people, { issuers: [{ issuer: "x" }] as Loose })),
    /feature issuer-login: issuers\[0\]/,
  ],
  [
    "rateLimits without options",
    () => withFeatures(rateLimits(undefined as Loose)),
    /feature rate-limits: its options are missing/,
  ],
  [
    "an unknown action of a limit",
    () =>
      withFeatures(
        rateLimits({ limits: [{ name: "a", by: "address", limit: 1, windowSeconds: 1, actions: ["lst"] as Loose }] }),
      ),
    /it contains 'lst'; .*did you mean list\?/,
  ],
  [
    "a subscriber to a resource that is not mounted",
    () => withFeatures(outbox({ subscribers: [{ name: "m", to: [books], deliver: () => undefined }] })),
    /the subscriber m names \/books, which is not mounted/,
  ],
  [
    "a misspelled color of the console",
    () => withFeatures(consolePages({ title: "A", colors: { surfce: "red" } as Loose })),
    /there is no option surfce; did you mean surface\?/,
  ],
  [
    "two mistakes in a license",
    () => withFeatures(documentation({ title: "A", version: "1", license: { nmae: "MIT", ulr: "x" } as Loose })),
    /did you mean name\?; there is no option ulr; did you mean url\?/,
  ],
  [
    "callerField with an unknown field",
    () => callerField(defineUsers({}), "tenant" as never),
    /callerField: identity names no tenant/,
  ],
  [
    "sameAs with an unknown field",
    () => sameAs(defineUsers({}), "tenant" as never),
    /sameAs: identity names no tenant/,
  ],
  [
    "a misspelled option of callOf",
    () => callOf({ methd: "GET" } as Loose),
    /callOf: there is no option methd; did you mean method\?/,
  ],
  [
    "misspelled options of createLatchkey",
    () =>
      createLatchkey({
        settings: readSettings({ LATCHKEY_DATABASE: "sqlite::memory:" }),
        confg: {},
        config: { featurs: [] },
      } as Loose),
    /createLatchkey has no option confg\. The nearest is config\.\nfeaturs in the config file/,
  ],
];

for (const [what, run, pattern] of rows)
  test(`reports ${what}, with the fix`, async () => {
    const thrown: unknown = await (async () => run())().then(
      () => "it starts",
      (error: unknown) => error,
    );

    assert.match(thrown instanceof Error ? thrown.message : String(thrown), pattern);
  });

test("throws a DeclarationError for a wrong declaration, and does not open the store", async () => {
  const closed: string[] = [];
  const store = {
    ...memory(),
    open: async () => void closed.push("opened"),
    close: async () => void closed.push("closed"),
  };

  await assert.rejects(createService({ store, basePath: "a b", trustedProxies: ["x"] }), DeclarationError);
  assert.deepEqual(closed, []);
});

const visits: Collection = { name: "visits", key: "integer", columns: [{ name: "at", type: "integer" }] };

const erase = { kind: "deleteAll", collection: visits, where: { all: [] } } as const;

for (const [what, change, pattern] of [
  [
    "of an unknown kind",
    { kind: "inser", collection: visits, values: {} },
    /its kind is 'inser'.*did you mean insert\?/,
  ],
  [
    "with a misspelled member",
    { kind: "insert", collection: visits, vaules: {} },
    /there is no member vaules of insert; did you mean values\?/,
  ],
  ["without a table", { kind: "insert", values: {} }, /its collection is missing/],
  ["without values", { kind: "insert", collection: visits }, /values is missing; it has to be an object/],
  [
    "with a list as its values",
    { kind: "insert", collection: visits, values: [] },
    /values is a list; it has to be an object/,
  ],
  ["without a condition", { kind: "deleteAll", collection: visits }, /where is missing; it has to be a condition/],
  [
    "with null as its condition",
    { kind: "updateAll", collection: visits, where: null, values: {} },
    /where is null; it has to be a/,
  ],
  ["with a negative atMost", { ...erase, atMost: -1 }, /atMost is -1; it has to be a whole number of 1 or more/],
  ["with a fraction as atMost", { ...erase, atMost: 0.5 }, /atMost is 0\.5; it has to be a whole number/],
  [
    "with NaN as atLeast",
    { ...erase, kind: "require", atLeast: Number.NaN, name: "a" },
    /atLeast is NaN; it has to be a whole/,
  ],
  [
    "of the kind require without a name",
    { ...erase, kind: "require", atLeast: 0 },
    /name is missing; it has to be a text/,
  ],
  [
    "with a text as its revision",
    { kind: "update", collection: visits, key: 1, values: {}, revision: "1" },
    /revision is a text; it has to be a whole number/,
  ],
  [
    "with a condition that names no column",
    { ...erase, where: { columns: "at" } },
    /Collection visits: a condition is \{ column, operator, value \}/,
  ],
  [
    "with a Map as its values",
    { kind: "insert", collection: visits, values: new Map([["at", 1]]) },
    /values is a Map; it/,
  ],
  [
    "with only a getter of a class as its values",
    {
      ...erase,
      kind: "updateAll",
      values: new (class {
        get at() {
          return 7;
        }
      })(),
    },
    /values is an object; it has to be an object with the columns by their names/,
  ],
  ...[
    { all: [], any: [] },
    { not: { any: [] }, all: [] },
    { not: { any: [] }, column: "at", operator: "eq", value: 1 },
    { column: "at", operator: "eq", value: 1, valeu: 2 },
    { all: {} },
    { all: [undefined] },
    { any: "at" },
    { column: "at", among: 1 },
    { column: "at", among: { collection: 1, select: "at", where: { all: [] } } },
    { word: "a", column: "at", operator: "eq", value: 1 },
    { link: visits, record: "id", linked: "at", values: [1], column: "at", operator: "eq", value: 1 },
  ].map(
    (where) => ["with an invalid or ambiguous condition", { ...erase, where }, /a condition is \{ column/] as const,
  ),
  [
    "with the operator null but no value",
    { ...erase, where: { column: "at", operator: "null" } },
    /Column at: null takes true or false/,
  ],
] as const)
  test(`refuses a change ${what} before anything is written`, async () => {
    const store = memory();
    await store.open([visits]);
    const good: Change = { kind: "insert", collection: visits, values: { at: 1 } };

    await store.write({ changes: [good] });

    await assert.rejects(store.write({ changes: [good, change as Loose] }), pattern);
    assert.equal(await store.count(visits, null), 1);
    await store.close();
  });

test("throws for a list with a negative limit, instead of an empty page", async () => {
  const store = memory();
  await store.open([visits]);

  assert.throws(
    () => store.list({ collection: visits, where: null, sort: [], limit: -1 }),
    /A limit of -1 is no number of rows/,
  );
  await store.close();
});

for (const [what, reply, pattern] of [
  [
    "a misspelled member",
    { staus: 200 },
    /GET \/a gave an invalid reply: there is no option staus; did you mean status\?/,
  ],
  ["a problem", problem("conflict"), /The handler of GET \/a returned a problem; throw it: throw problem\(…\)\./],
  ["nothing", undefined, /it is missing; a handler gives \{ status, body \}/],
  ["a body without a kind", { status: 200, body: { hello: "you" } }, /its kind is missing; .*data, json, raw/],
  ["an invalid status", { status: 99 }, /status is 99; it has to be a whole number from 200 to 599/],
  [
    "headers that are not a list",
    { status: 204, headers: { a: "b" } },
    /headers is an object; it has to be a list of pairs/,
  ],
] as const)
  test(`reports a fault that names the mistake if a handler returns ${what}`, async () => {
    const faults: unknown[] = [];
    const service = await createService({
      store: memory(),
      endpoints: [defineEndpoint({ method: "GET", path: "/a", access: anyone, handle: () => reply as Loose })],
      observe: (seen) => void (seen.kind === "fault" && faults.push(seen.error)),
    });

    const { status } = await service.fetch(new Request("http://127.0.0.1/a"), { peer: null });
    await service.close();

    assert.equal(status, 500);
    assert.match(String(faults[0]), pattern);
  });

test("exports no way to make an endpoint with unchecked replies, and checks the replies of a copied built-in endpoint", async () => {
  const doors: readonly object[] = [
    latchkey,
    await import("../../src/door/http.ts"),
    await import("../../src/door/features.ts"),
  ];
  assert.deepEqual(
    doors.filter((door) => "builtInEndpoint" in door),
    [],
  );
  const faults: unknown[] = [];
  const { endpoints = [] } = health().setUp({} as Loose);
  const service = await createService({
    store: memory(),
    endpoints: endpoints.map((each) => ({ ...each, handle: () => ({ staus: 200 }) as Loose })),
    observe: (seen) => void (seen.kind === "fault" && faults.push(seen.error)),
  });

  await service.fetch(new Request(`http://127.0.0.1${endpoints[0]!.path}`), { peer: null });
  await service.close();

  assert.match(String(faults[0]), /gave an invalid reply: there is no option staus/);
});

test("replaces the built-in XML with a custom format for application/xml", async () => {
  const xml: Format = {
    mediaType: "application/xml",
    problemMediaType: "application/xml",
    tagSuffix: "-xml",
    write: () => "<own/>",
    writeProblem: () => "<problem/>",
    read: () => ({ value: { title: "read by our own", owner_id: "1" }, typed: false }),
  };
  const service = await createService({
    store: memory(),
    mounts: [mount(books, { permission: anyone })],
    formats: [xml],
  });
  const ask = (init: RequestInit) => service.fetch(new Request("http://127.0.0.1/books", init), { peer: null });

  const made = await ask({ method: "POST", body: "<x/>", headers: { "content-type": "application/xml" } });
  const shown = await ask({ headers: { accept: "application/xml" } });
  await service.close();

  assert.deepEqual(await made.json(), { id: 1, title: "read by our own", owner_id: 1 });
  assert.equal(await shown.text(), "<own/>");
});
