import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { customHeaderLogin } from "../../src/door/auth.ts";
import type { Endpoint, Format } from "../../src/door/http.ts";
import {
  accounts,
  anyone,
  createService,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  Secret,
  text,
} from "../../src/door/index.ts";
import { makeLog } from "../../src/door/ops.ts";
import { DeclarationError, standardSchema, type StandardSchema } from "../../src/door/resources.ts";
import { migratePostgres, planPostgres, postgresStore, sqliteStore, type Store } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";
import { askPostgres, startPostgres } from "../harness/postgres.ts";

// Values from a caller or a column may be secrets. A fault shows their kind, never their content.

const secret = "hunter2 of Ada";
const number = 271_828;
const options = { permission: anyone } as const;
const wrong = (value: unknown) => value as never;
const fields = { title: text(), pin: text({ writeOnly: true, confidential: true, optional: true }) };
const named = <const N extends string>(name: N) => defineResource({ name, fields });

const echoing: StandardSchema<string> = {
  "~standard": {
    version: 1,
    vendor: "echo",
    validate: (value) => ({ issues: [{ message: `must be longer (was "${String(value)}")` }] }),
  },
};
const broken: Format = {
  mediaType: "text/broken",
  problemMediaType: "text/broken",
  tagSuffix: "-broken",
  write: ({ value }) => wrong(value),
  writeProblem: (document) => JSON.stringify(document),
  read: (bytes) => wrong(Buffer.from(bytes).toString()),
};
const mounts = [
  mount(named("hooked"), {
    ...options,
    beforeWrite: ({ draft }) => ({ values: { pin: wrong([draft?.transient, secret, 1n]) } }),
  }),
  mount(named("numbered"), { ...options, beforeWrite: () => ({ values: { pin: wrong(number) } }) }),
  mount(named("split"), { ...options, beforeWrite: () => ({ values: { pin: `${secret}\ud800` } }) }),
  mount(named("told"), { ...options, beforeWrite: () => wrong(secret) }),
  mount(named("completed"), { ...options, beforeWrite: () => ({ complete: () => wrong(secret) }) }),
  mount(named("listed"), { ...options, beforeWrite: () => ({ changes: wrong(secret) }) }),
  mount(named("changing"), { ...options, beforeWrite: () => ({ changes: [wrong(secret)] }) }),
  mount(defineResource({ name: "checked", fields, check: () => wrong(secret) }), options),
  mount(
    defineResource({
      name: "defaulted",
      fields: { ...fields, pin: text({ writeOnly: true, default: () => wrong([number]) }) },
    }),
    options,
  ),
  mount(
    defineResource({
      name: "echoed",
      fields: {
        title: text(),
        pin: standardSchema(echoing, { column: "text", writeOnly: true, jsonSchema: { type: "string" } }),
      },
    }),
    options,
  ),
  mount(named("narrowed"), { permission: { name: "odd", decide: () => wrong({ only: secret, pin: number }) } }),
  mount(named("asked"), { permission: { name: "odd", decide: () => wrong(secret) } }),
];
const endpoint = (path: string, reply: unknown): Endpoint =>
  defineEndpoint({ method: "GET", path, access: anyone, handle: () => wrong(reply) });
const endpoints = [
  endpoint("/as-text", secret),
  endpoint("/as-number", number),
  endpoint("/as-body", { status: 200, body: secret }),
  endpoint("/as-kind", { status: 200, body: { kind: secret } }),
  endpoint("/as-tag", { status: 204, tag: number }),
  endpoint("/as-cache", { status: 204, cache: secret }),
  endpoint("/as-header", { status: 204, headers: secret }),
];

const server = await startPostgres();
after(() => server.stop());
const stores: Readonly<Record<string, () => Promise<Store>>> = {
  SQLite: async () => sqliteStore({ path: ":memory:" }),
  PostgreSQL: async () => postgresStore({ url: new Secret(await server.makeDatabase()) }),
};

for (const [database, makeStore] of Object.entries(stores))
  test(`shows no sent or stored value in a fault (${database})`, async (t) => {
    const { ask, observed, service } = await ownService(t, {
      store: await makeStore(),
      mounts,
      endpoints,
      formats: [broken],
    });
    const post = async (path: string, headers = {}): Promise<number> =>
      (await ask("POST", path, { body: { title: "a", ...(path === "/defaulteds" ? {} : { pin: secret }) }, headers }))
        .status;

    for (const { resource } of mounts) {
      const status = await post(resource.path);
      assert.equal(status, resource.name === "echoed" ? 400 : 500, resource.path);
    }
    assert.equal(await post("/hookeds", { "content-type": "text/broken" }), 500);
    for (const { path } of endpoints) assert.equal((await ask("GET", path)).status, 500, path);
    for (const { resource, collection } of mounts)
      assert.equal(await service.store.count(collection, null), 0, resource.path);

    const lines: string[] = [];
    const log = makeLog("debug", (line) => lines.push(line))!;
    for (const each of observed) log.observe(each);
    log.flush();
    const output = inspect(observed, { depth: 20, maxStringLength: null, maxArrayLength: null }) + lines.join("");
    for (const each of ["hunter2", String(number), "271_828"]) {
      const at = output.indexOf(each);
      assert.equal(at, -1, output.slice(Math.max(0, at - 300), at + 60));
    }
    assert.match(output, /Column pin of numbereds is of type text and cannot hold a number/);
    assert.match(
      output,
      /Column pin of splits is of type text and cannot hold a text with half of a pair of surrogates/,
    );
  });

test("hides the value in messages of the database", async (t) => {
  const url = await server.makeDatabase();
  const store = postgresStore({ url: new Secret(url) });
  const { ask, observed, service } = await ownService(t, {
    store,
    mounts: [mount(named("kept"), options)],
  });
  await askPostgres(url, `ALTER TABLE "kepts" ADD CONSTRAINT "short" CHECK (length("pin") < 5)`);

  assert.equal((await ask("POST", "/kepts", { body: { title: "a", pin: secret } })).status, 500);

  const output = inspect(observed, { depth: 20, maxStringLength: null });
  assert.match(output, /violates check constraint "short"/);
  assert.doesNotMatch(output, /hunter2/);
  assert.equal(await service.store.count(mount(named("kept"), options).collection, null), 0);
});

test("hides the invalid value of a secret or of a write-only field in a DeclarationError", async () => {
  const people = accounts();
  const failures = [
    createService({
      store: sqliteStore({ path: ":memory:" }),
      features: [people, customHeaderLogin(people, { token: wrong(secret), username: "admin" })],
    }),
    (async () => postgresStore({ url: wrong(`postgres://app:${secret}@db/x`) }))(),
    (async () => postgresStore(wrong(`postgres://app:${secret}@db/x`)))(),
    planPostgres(wrong(secret), []),
    migratePostgres(wrong(secret), [], { dropped: [], program: "test" }),
    (async () =>
      defineResource({ name: "a", fields: { pin: text({ writeOnly: true, maxLength: 3, default: secret }) } }))(),
    (async () =>
      defineResource({ name: "a", fields: { pin: integer({ writeOnly: true, maximum: 3, backfill: number }) } }))(),
  ];

  for (const each of failures) {
    const error: unknown = await each.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof DeclarationError);
    assert.doesNotMatch(inspect(error, { depth: 9 }), /hunter2|271.?828/);
  }
});
