import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { opaqueTokenPattern } from "../../src/door/auth.ts";
import { consolePages, documentation } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import {
  anyone,
  authenticated,
  caller,
  createService,
  defineResource,
  integer,
  mount,
  owner,
  Secret,
  text,
} from "../../src/door/index.ts";
import { array, findByToken, olderShape, shownOnce } from "../../src/door/resources.ts";
import { sqliteStore, type Collection } from "../../src/door/stores.ts";
import { ownService, type Own } from "../harness/own-service.ts";
import { emptyStore } from "../harness/test-store.ts";

const secret = new Secret("a secret of the service, long enough");

const hook = defineResource({
  name: "hook",
  id: "text",
  fields: {
    label: text({ maxLength: 100 }),
    user_id: integer({ generated: caller }),
    token: shownOnce({ owner: "user_id", prefix: "hook", description: "Send it with each report." }),
  },
  filters: { label: ["eq"] },
  sorts: ["label"],
  search: ["label"],
});
const mine = owner("user_id");
const permission = { list: mine, read: mine, create: authenticated, delete: mine };
const hooks = mount(hook, { permission, maximum: { per: "user_id", records: 3 } });

interface Service extends Own {
  make(as?: string): Promise<{ readonly id: string; readonly token: string }>;
  find(token: string): Promise<{ readonly kind: string }>;
}

async function serve(t: TestContext): Promise<Service> {
  const store = await emptyStore();
  const own = await ownService(t, {
    store,
    secret,
    mounts: [hooks],
    formats: [csv()],
    features: [documentation({ title: "T", version: "1" }), consolePages({ title: "T" })],
  });
  return {
    ...own,
    async make(as = "ada") {
      const made = await own.ask("POST", "/hooks", { as, body: { label: "build" } });
      assert.equal(made.status, 201, made.text);
      return made.json;
    },
    find: async (token) => findByToken(hooks, { store, secret }, token),
  };
}

test("shows the value in the response to its creation, and in no other", async (t) => {
  const { ask, get, make, service } = await serve(t);
  const made = await ask("POST", "/hooks", { as: "ada", body: { label: "build" } });
  const { token, ...record } = made.json;

  assert.match(token, opaqueTokenPattern);
  assert.deepEqual(record, { id: token.slice(5, 19), label: "build", user_id: 2 });
  assert.equal(made.headers.get("cache-control"), "no-store");
  assert.equal(made.headers.get("etag"), null);
  assert.equal(made.headers.get("location"), `/hooks/${record.id}`);

  const one = `/hooks/${record.id}`;
  const csv = { as: "ada", headers: { accept: "text/csv" } };
  const xml = { as: "ada", headers: { accept: "application/xml" } };
  const page = { as: "ada", headers: { accept: "text/html" } };
  const others = [
    await get(one, { as: "ada" }),
    await get("/hooks", { as: "ada" }),
    await get("/hooks", csv),
    await get("/hooks", xml),
    await get(one, xml),
    await get("/hooks", page),
    await get(one, page),
    await get("/hooks?search=build&label=build&sort=-label", { as: "ada" }),
    await ask("QUERY", "/hooks", { as: "ada", body: { where: { label: { eq: "build" } } } }),
    await ask("HEAD", one, { as: "ada" }),
  ];
  const { rows } = await readAll(service);
  for (const each of others) assert.equal(each.status, 200, each.text);
  for (const part of [token, token.slice(19), token.slice(40, 61)])
    assert.ok(![...others.map((each) => each.text + [...each.headers].join()), rows].some((all) => all.includes(part)));
  assert.deepEqual((await get(one, { as: "ada" })).json, record);
  const inXML = await ask("POST", "/hooks", {
    as: "ada",
    body: { label: "x" },
    headers: { accept: "application/xml" },
  });
  assert.match(inXML.text, /<token>hook_\w{62}<\/token>/);
  await make("ben");
});

async function readAll({ store }: Own["service"]) {
  const rows = await store.list({ collection: hooks.collection, where: null, sort: [{ column: "id" }], limit: 100 });
  return { rows: JSON.stringify(rows) };
}

test("knows the name of the value only in the answer: it filters, sorts, selects and expands nothing", async (t) => {
  const { ask, get, make } = await serve(t);
  const { id, token } = await make();

  for (const name of ["token", "digest"]) {
    for (const query of [`${name}=${token}`, `${name}[starts]=h`, `sort=${name}`, `fields=${name}`, `expand=${name}`])
      assert.equal((await get(`/hooks?${query}`, { as: "ada" })).status, 400, query);
    assert.equal((await get(`/hooks/${id}?fields=${name}`, { as: "ada" })).status, 400);
    const where = { where: { [name]: { eq: token } } };
    assert.equal((await ask("QUERY", "/hooks", { as: "ada", body: where })).status, 400);
  }
  assert.deepEqual((await get(`/hooks?search=${token}`, { as: "ada" })).json, []);
});

test("takes no value from the caller, and offers no change of a record", async (t) => {
  const { ask, make } = await serve(t);
  const { id } = await make();

  for (const [body, pointer] of [
    [{ label: "x", token: "mine" }, "/token"],
    [{ label: "x", token: null }, "/token"],
    [{ label: "x", digest: "mine" }, "/digest"],
    [{ label: "x", id: "mine" }, "/id"],
  ] as const) {
    const answer = await ask("POST", "/hooks", { as: "ada", body });
    assert.deepEqual([answer.status, answer.json.errors?.[0]?.pointer], [400, pointer], answer.text);
  }
  for (const method of ["PUT", "PATCH"])
    assert.equal((await ask(method, `/hooks/${id}`, { as: "ada", body: { label: "y" } })).status, 405);
  assert.equal((await ask("POST", "/hooks", { as: "ada", body: [{ label: "y" }] })).status, 400);
  assert.equal((await ask("PATCH", "/hooks", { as: "ada", body: [] })).status, 405);
});

test("refuses Idempotency-Key and ignores return=minimal, because the value could not be shown again", async (t) => {
  const { ask } = await serve(t);
  const body = { label: "build" };

  const repeatable = await ask("POST", "/hooks", { as: "ada", body, headers: { "idempotency-key": "12345678" } });
  const minimal = await ask("POST", "/hooks", { as: "ada", body, headers: { prefer: "return=minimal" } });

  assert.equal(repeatable.status, 400);
  assert.match(minimal.json.token, opaqueTokenPattern);
});

test("finds the record of a value, and tells a revoked value from a guess", async (t) => {
  const { ask, make, find } = await serve(t);
  const [one, other] = [await make(), await make("ben")];
  const kindOf = async (token: string) => (await find(token)).kind;

  assert.deepEqual(
    [await kindOf(one.token), await kindOf(`${one.token.slice(0, -1)}!`), await kindOf("")],
    ["genuine", "malformed", "malformed"],
  );
  assert.equal((await ask("DELETE", `/hooks/${one.id}`, { as: "ben" })).status, 404);
  assert.equal((await ask("DELETE", `/hooks/${one.id}`, { as: "ada" })).status, 204);
  assert.deepEqual([await kindOf(one.token), await kindOf(other.token)], ["revoked", "genuine"]);
});

test("refuses a value whose row was moved to another owner, or was written without the secret", async (t) => {
  const { make, find, service } = await serve(t);
  const { id, token } = await make();
  const change = (values: Readonly<Record<string, string | number>>) =>
    service.store.write({ changes: [{ kind: "update", collection: hooks.collection, key: id, values }] });

  await change({ user_id: 1 });
  assert.equal((await find(token)).kind, "forged");
  await change({ user_id: 2 });
  assert.equal((await find(token)).kind, "genuine");
  await change({ digest: "x" });
  assert.equal((await find(token)).kind, "forged");
  const other = { store: service.store, secret: new Secret("another secret of another service") };
  assert.equal((await findByToken(hooks, other, (await make()).token)).kind, "forged");
});

test("honours If-Match of a deletion", async (t) => {
  const { ask, get, make } = await serve(t);
  const { id } = await make();
  const tag = (await get(`/hooks/${id}`, { as: "ada" })).headers.get("etag")!;

  const stale = await ask("DELETE", `/hooks/${id}`, { as: "ada", headers: { "if-match": '"other"' } });
  const fresh = await ask("DELETE", `/hooks/${id}`, { as: "ada", headers: { "if-match": tag } });

  assert.deepEqual([stale.status, fresh.status], [412, 204]);
});

test("allows each owner the maximum of records, also if several writes arrive at once", async (t) => {
  const { ask, make } = await serve(t);
  await make();
  await make();
  await make("ben");

  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => ask("POST", "/hooks", { as: "ada", body: { label: "more" } })),
  );

  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, 409, 409, 409],
  );
  assert.equal(answers.find(({ status }) => status === 409)!.json.code, "too_many");
  await make("ben");
});

test("counts for the maximum also PUT, arrays, and a record that moves to another owner", async (t) => {
  const page = defineResource({ name: "page", fields: { book: integer(), title: text({ optional: true }) } });
  const pages = mount(page, { permission: anyone, arrays: true, maximum: { per: "book", records: 2 } });
  const { ask } = await ownService(t, { mounts: [pages] });
  const status = async (method: string, path: string, body: unknown) => (await ask(method, path, { body })).status;

  assert.equal(await status("POST", "/pages", [{ book: 1 }, { book: 1 }, { book: 1 }]), 409);
  assert.equal(await status("POST", "/pages", [{ book: 1 }, { book: 1 }, { book: 2 }]), 201);
  const [first] = (await ask("GET", "/pages?limit=1")).json;
  assert.equal(await status("PUT", "/pages/900", { book: 1 }), 409);
  assert.equal(await status("PUT", "/pages/900", { book: 2 }), 201);
  assert.equal(await status("PATCH", "/pages/900", { book: 1 }), 409);
  assert.equal(await status("PATCH", "/pages", [{ id: 900, book: 1 }]), 409);
  assert.equal(await status("PATCH", `/pages/${first.id}`, { title: "A full book may change" }), 200);
  const [full, moved] = [
    { id: first.id, book: 3 },
    { id: 900, book: 1 },
  ];
  assert.equal(await status("PATCH", "/pages", [full, moved]), 200);
});

test("mounts a resource on a table that was declared before, and keeps its name, columns and indexes", async (t) => {
  const table: Collection = {
    name: "old_notes",
    key: "integer",
    columns: [
      { name: "body", type: "text" },
      { name: "hidden", type: "text", nullable: true },
    ],
    indexes: [["body", "id"]],
  };
  const note = defineResource({ name: "note", fields: { body: text() }, filters: { body: ["eq"] } });
  const notes = mount(note, { permission: anyone, table });
  const { ask, get, service } = await ownService(t, { mounts: [notes] });
  const values = { body: "written by own code", hidden: "never shown" };
  await service.store.write({ changes: [{ kind: "insert", collection: table, values }] });

  assert.equal(notes.collection, table);
  assert.deepEqual((await get("/notes")).json, [{ id: 1, body: "written by own code" }]);
  assert.equal((await ask("PATCH", "/notes/1", { body: { body: "changed" } })).status, 200);
  assert.equal((await ask("POST", "/notes", { body: { body: "x", hidden: "y" } })).status, 400);
  const rows = await service.store.list({ collection: table, where: null, sort: [{ column: "id" }], limit: 5 });
  assert.deepEqual(
    rows.map(({ record }) => record),
    [{ id: 1, body: "changed", hidden: "never shown" }],
  );
});

const table: Collection = { name: "old_notes", key: "integer", columns: [{ name: "body", type: "integer" }] };
const note = defineResource({ name: "note", fields: { body: text() } });

for (const [what, declare, mistake] of [
  ["a permission for all actions", () => mount(hook, { permission: anyone }), /give a permission for each/],
  [
    "a change",
    () => mount(hook, { permission: { ...permission, update: mine } }),
    /permission\.update: .* leave it out/,
  ],
  ["a replacement", () => mount(hook, { permission: { ...permission, replace: mine } }), /permission\.replace/],
  ["arrays", () => mount(hook, { permission, arrays: true }), /arrays: /],
  ["a shared cache", () => mount(hook, { permission, cache: "public" }), /cache: /],
  ["an older shape", () => olderShape(hooks, { prefix: "/v1", fields: { label: "label" } }), /shownOnce/],
  [
    "other ids",
    () => defineResource({ name: "x", fields: { user_id: integer(), key: shownOnce({ owner: "user_id" }) } }),
    /write id: "text"/,
  ],
  [
    "two values",
    () =>
      defineResource({
        name: "x",
        id: "text",
        fields: { o: integer(), a: shownOnce({ owner: "o" }), b: shownOnce({ owner: "o", column: "c" }) },
      }),
    /keep one/,
  ],
  [
    "a wrong prefix",
    () => defineResource({ name: "x", id: "text", fields: { k: shownOnce({ owner: "o", prefix: "A_" }) } }),
    /prefix/,
  ],
  [
    "a filter by it",
    () =>
      defineResource({
        name: "x",
        id: "text",
        fields: { o: integer(), k: shownOnce({ owner: "o" }) },
        filters: { k: ["eq"] },
      }),
    /never shown/,
  ],
  [
    "an array of them",
    () => defineResource({ name: "x", fields: { k: array(shownOnce({ owner: "o" })) } }),
    /shownOnce|readOnly/,
  ],
  [
    "an unknown owner",
    () =>
      mount(defineResource({ name: "x", id: "text", fields: { o: integer(), k: shownOnce({ owner: "other" }) } }), {
        permission: { create: anyone },
      }),
    /there is no column other/,
  ],
  [
    "a maximum per no column",
    // @ts-expect-error there is no such column
    () => mount(note, { permission: anyone, maximum: { per: "boddy", records: 1 } }),
    /maximum\.per: there is no column boddy/,
  ],
  ["a table with another type", () => mount(note, { permission: anyone, table }), /is of type integer/],
  [
    "a table without the column",
    () => mount(note, { permission: anyone, table: { ...table, columns: [] } }),
    /has no column body/,
  ],
] as const)
  test(`refuses a declaration with ${what}`, () => {
    assert.throws(declare, mistake);
  });

test("refuses to start without a secret", async () => {
  const starts = createService({ store: sqliteStore({ path: ":memory:" }), mounts: [hooks] });

  await assert.rejects(starts, /\/hooks shows token once, and its digest needs a secret/);
});

test("describes the value in the response to a creation only", async (t) => {
  const { get } = await ownService(t, {
    secret,
    mounts: [hooks],
    features: [documentation({ title: "T", version: "1" })],
  });
  const { paths, components } = (await get("/openapi.json")).json;
  const { responses, parameters = [] } = paths["/hooks"].post;

  assert.equal(
    responses["201"].content["application/json"].schema.properties.token.description,
    "Send it with each report.",
  );
  assert.deepEqual(parameters, []);
  assert.ok(!JSON.stringify(components.schemas).includes("Send it with"));
  assert.ok(!JSON.stringify(components.schemas).includes("digest"));
});
