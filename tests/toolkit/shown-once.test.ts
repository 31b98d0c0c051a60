import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { opaqueTokenPattern } from "../../src/door/auth.ts";
import { consolePages, documentation, outbox } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import {
  accepted,
  anyone,
  authenticated,
  boolean,
  caller,
  createService,
  decimal,
  defineResource,
  integer,
  mount,
  owner,
  reference,
  rejected,
  Secret,
  text,
  type Scheme,
} from "../../src/door/index.ts";
import { array, findByToken, olderShape, shownOnce } from "../../src/door/resources.ts";
import { sqliteStore, type Collection } from "../../src/door/stores.ts";
import { exportRecords } from "../../src/service/records/export-records.ts";
import { readRecord } from "../../src/service/records/read-record.ts";
import { ownService, people, visitor, type Own } from "../harness/own-service.ts";
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

test("refuses to send the value over cleartext to another host", async (t) => {
  const { service } = await serve(t);
  const headers = { "content-type": "application/json", "x-visitor": "ada" };
  const request = new Request("http://shop.example/hooks", { method: "POST", headers, body: '{"label":"x"}' });

  const reply = await service.fetch(request, { peer: "192.0.2.7" });

  assert.equal(reply.status, 403);
  assert.match(await reply.text(), /"insecure_transport"/);
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
  const { ask, service } = await ownService(t, { mounts: [pages] });
  const status = async (method: string, path: string, body: unknown) => (await ask(method, path, { body })).status;

  assert.equal(await status("POST", "/pages", [{ book: 1 }, { book: 1 }, { book: 1 }]), 409);
  assert.equal(await status("POST", "/pages", [{ book: 1 }, { book: 1 }, { book: 2 }]), 201);
  const [first] = (await ask("GET", "/pages?limit=1")).json;
  assert.equal(await status("PUT", "/pages/900", { book: 1 }), 409);
  assert.equal(await status("PUT", "/pages/900", { book: 2 }), 201);
  assert.equal(await status("PATCH", "/pages/900", { book: 1 }), 409);
  assert.equal(await status("PATCH", "/pages", [{ id: 900, book: 1 }]), 409);
  assert.equal(await status("PATCH", `/pages/${first.id}`, { title: "A full book may change" }), 200);
  const own = { kind: "insert", collection: pages.collection, values: { book: 9, title: null } } as const;
  await service.store.write({ changes: [own, own, own] });
  const beyond = (await ask("GET", "/pages")).json.find(({ book }: { book: number }) => book === 9);
  assert.equal(await status("PATCH", `/pages/${beyond.id}`, { book: 9, title: "So may one of too many" }), 200);
  const [full, moved] = [
    { id: first.id, book: 3 },
    { id: 900, book: 1 },
  ];
  assert.equal(await status("PATCH", "/pages", [full, moved]), 200);
});

test("counts for the maximum every value of a column that is not null", async (t) => {
  const page = defineResource({
    name: "page",
    fields: { starred: boolean({ optional: true }), price: decimal({ scale: 2, maximum: "99.99", optional: true }) },
  });
  for (const [per, value, other] of [
    ["starred", true, false],
    ["price", "1.50", "2.50"],
  ] as const) {
    const { ask } = await ownService(t, {
      mounts: [mount(page, { permission: anyone, maximum: { per, records: 1 } })],
    });
    const status = async (method: string, path: string, body: object) => (await ask(method, path, { body })).status;

    assert.equal(await status("POST", "/pages", { [per]: value }), 201);
    assert.equal(await status("POST", "/pages", { [per]: value }), 409, per);
    assert.equal(await status("POST", "/pages", { [per]: other }), 201);
    assert.equal(await status("PATCH", "/pages/3", { [per]: value }), 409);
    assert.deepEqual([await status("POST", "/pages", {}), await status("POST", "/pages", {})], [201, 201]);
  }
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
  [
    "a maximum per array",
    () =>
      mount(defineResource({ name: "x", fields: { tags: array(text()) } }), {
        permission: anyone,
        maximum: { per: "tags", records: 1 },
      }),
    /maximum\.per: tags is stored as JSON/,
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

test("keeps the value out of files, events, hooks, logs, observations and exports", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "latchkey-once-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const seen: unknown[] = [];
  const events = outbox({
    subscribers: [{ name: "index", to: [hook], deliver: (event) => void seen.push(event) }],
  });
  const mounted = mount(hook, {
    permission,
    beforeWrite: ({ draft }) => {
      seen.push(draft);
      return {};
    },
    afterWrite: (written) => void seen.push(written),
  });
  // On SQLite only, because the test reads the database files.
  const store = sqliteStore({ path: path.join(folder, "test.db") });
  const own = await ownService(t, { store, secret, mounts: [mounted], features: [events] });
  const { token } = (await own.ask("POST", "/hooks", { as: "ada", body: { label: "x" } })).json;
  await own.service.use(events).deliverDue();
  const exported = [];
  for await (const records of exportRecords(
    store,
    own.service.mounts.find(({ resource }) => resource === hook)!,
  ))
    exported.push(...records);

  assert.equal(seen.length, 3);
  assert.deepEqual(Object.keys(exported[0]!), ["id", "label", "user_id"]);
  const texts = readdirSync(folder).map((name) => readFileSync(path.join(folder, name), "latin1"));
  texts.push(JSON.stringify(seen), JSON.stringify(own.observed), JSON.stringify(exported));
  for (const part of [token, token.slice(19), token.slice(19, 40), token.slice(40, 61)])
    assert.ok(!texts.some((each) => each.includes(part)));
});

test("refuses the value in an import", () => {
  const mounted = { ...hooks, parent: null, newer: null, relations: [], listedBy: [], referrers: [] };
  const record = { id: "x", label: "x", user_id: 1, token: "hook_1" };

  const read = readRecord(mounted, record, { isText: false, withIds: true, missing: [] });

  assert.deepEqual(read, { reasons: ["token: The service makes this value."] });
});

test("shows the value on the page that answers a form, and in no expansion", async (t) => {
  const report = defineResource({ name: "report", fields: { hook_id: reference(hook), line: text() } });
  const reports = mount(report, { permission: anyone, expand: { hook: "hook_id" } });
  const plain = mount(hook, { permission: { ...permission, read: anyone, list: anyone } });
  const features = [consolePages({ title: "T" })];
  const { ask, get } = await ownService(t, { secret, mounts: [plain, reports], features });

  const page = await ask("POST", "/hooks", { as: "ada", body: { label: "x" }, headers: { accept: "text/html" } });

  const token = /hook_\w{62}/.exec(page.text)?.[0] ?? "";
  assert.equal(page.status, 201);
  assert.match(token, opaqueTokenPattern);
  assert.equal(page.headers.get("cache-control"), "no-store");
  const hook_id = token.slice(5, 19);
  await ask("POST", "/reports", { as: "ada", body: { hook_id, line: "x" } });
  const expanded = await get("/reports?expand=hook", { as: "ada" });
  assert.deepEqual(expanded.json[0].hook, { id: hook_id, label: "x", user_id: 2 });
});

test("creates nothing for a credential that may not read the answer, or that ends meanwhile", async (t) => {
  let isEnded = false;
  const ending: Scheme = {
    name: "ending",
    carriers: [{ in: "header", name: "X-Ending" }],
    challenge: () => "Ending",
    authenticate: () => (isEnded ? rejected("revoked") : accepted(people["ben"]!)),
  };
  const mounted = mount(hook, { permission, afterWrite: () => void (isEnded = true) });
  const scopesAllow = (scopes: readonly string[], method: string) => scopes.includes("books:read") && method !== "GET";
  const { ask, service } = await ownService(t, { secret, mounts: [mounted], schemes: [visitor, ending], scopesAllow });
  const body = { label: "x" };

  const unread = await ask("POST", "/hooks", { as: "reader", body });
  const { rows } = await readAll(service);
  const late = await ask("POST", "/hooks", { body, headers: { "x-ending": "1" } });

  assert.deepEqual([unread.status, rows], [403, "[]"]);
  assert.equal(late.status, 401);
  assert.doesNotMatch(late.text, /hook_/);
});

test("accepts values that an older secret of the service made", async (t) => {
  const { make, service } = await serve(t);
  const { token } = await make();
  const rotated = new Secret("a newer secret of the service, also long", [secret]);

  assert.equal((await findByToken(hooks, { store: service.store, secret: rotated }, token)).kind, "genuine");
});

test("accepts the values of a renamed table that names its former table as the purpose", async (t) => {
  const { make, service } = await serve(t);
  const { token } = await make();
  const declare = (purpose: string) =>
    mount(
      defineResource({
        name: "web_hook",
        id: "text",
        fields: {
          user_id: integer({ generated: caller }),
          token: shownOnce({ owner: "user_id", prefix: "hook", purpose }),
        },
      }),
      { permission, table: hooks.collection },
    );
  const find = async (mounted: typeof hooks, by: Secret) =>
    (await findByToken(mounted, { store: service.store, secret: by }, token)).kind;

  // The order of the first use makes no difference.
  for (const by of [secret, new Secret("a secret of the service, long enough")]) {
    const renamed = declare("hooks") as unknown as typeof hooks;
    assert.deepEqual([await find(renamed, by), await find(hooks, by)], ["genuine", "genuine"]);
  }
  assert.equal(await find(declare("others") as unknown as typeof hooks, secret), "forged");
});
