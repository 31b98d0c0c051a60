import assert from "node:assert/strict";
import { test } from "node:test";
import { defineResource, integer, mount, text, authenticated } from "../../src/door/index.ts";
import { references } from "../../src/door/resources.ts";
import { keyOf } from "../../src/door/stores.ts";
import { serve, type Answered, type API } from "../harness/serve.ts";

const listPointers = ({ json }: Answered): string[] =>
  (json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer);
const listIds = ({ json }: Answered): number[] => json.map(({ id }: { id: number }) => id);
const countRecords = async (api: API, path = "/orders"): Promise<number> =>
  Number((await api.get(path, { ...api.admin, prefer: "count=exact" })).headers.get("x-total-count"));

test("creates an array of records in one transaction", async (t) => {
  const api = await serve(t);
  const ann = await api.user("Ann");

  await t.test("creates the records of an array in order, each by the rules of a single record", async () => {
    const made = await api.post("/orders", [{ status: "paid" }, {}, { status: "cancelled" }], ann.headers);
    assert.deepEqual([made.status, made.headers.get("location")], [201, null]);
    assert.deepEqual(listIds(made), [1, 2, 3]);
    assert.deepEqual(
      made.json.map(({ status, user_id }: Record<string, unknown>) => [status, user_id]),
      [
        ["paid", ann.id],
        ["open", ann.id],
        ["cancelled", ann.id],
      ],
    );
    assert.deepEqual(made.json, (await api.get("/orders", ann.headers)).json);
    const below = await api.post(
      "/orders/1/items",
      [
        { product: "Key", quantity: 1, unit_price: "2.50" },
        { product: "Lock", quantity: 2, unit_price: "12" },
      ],
      ann.headers,
    );
    assert.deepEqual(below.json, (await api.get("/orders/1/items", ann.headers)).json);
    assert.equal((await api.post("/orders/9/items", [{}], ann.headers)).status, 400);
    assert.equal(
      (await api.post("/orders/9/items", [{ product: "A", quantity: 1, unit_price: "1" }], ann.headers)).status,
      404,
    );
  });

  await t.test("creates no record of an array if one is invalid, and names its position", async () => {
    const rows: readonly (readonly [body: unknown, pointers: readonly string[]])[] = [
      [[], [""]],
      [Array(1001).fill({}), [""]],
      [[{}, 1], ["/1"]],
      [
        [{}, [], null],
        ["/1", "/2"],
      ],
      [[{}, { id: 7 }], ["/1/id"]],
      [
        [{ status: "ajar" }, {}, { colour: "red", user_id: "x" }],
        ["/0/status", "/2/user_id", "/2/colour"],
      ],
      [[{}, { user_id: 99 }], ["/1/user_id"]],
      [Array(1000).fill({ status: 1 }), Array.from({ length: 100 }, (_, at) => `/${at}/status`)],
    ];
    const before = await countRecords(api);
    for (const [body, pointers] of rows) {
      const refused = await api.post("/orders", body, api.admin);
      assert.deepEqual([refused.status, listPointers(refused)], [400, pointers], refused.text.slice(0, 300));
    }
    assert.equal((await api.post("/orders", [{}, { user_id: 1 }], ann.headers)).status, 403);
    assert.equal(await countRecords(api), before);
    assert.equal((await api.post("/users", [{ name: "A", email: "a@example.com" }], api.admin)).status, 400);
    const xml = { ...api.admin, "content-type": "application/xml" };
    assert.equal((await api.ask("POST", "/orders", { headers: xml, body: "<orders><order/></orders>" })).status, 400);
  });

  await t.test("creates an array of records once under an idempotency key", async () => {
    const headers = { ...ann.headers, "idempotency-key": "an-array-of-three" };
    const before = await countRecords(api);
    const [first, again] = [
      await api.post("/orders", [{}, {}, {}], headers),
      await api.post("/orders", [{}, {}, {}], headers),
    ];
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal((await api.post("/orders", [{}, {}], headers)).status, 422);
    assert.equal(await countRecords(api), before + 3);
  });

  await t.test(
    "leaves the created records out of the response if the caller sends `Prefer: return=minimal`",
    async () => {
      const made = await api.post("/orders", [{}, {}], { ...ann.headers, prefer: "return=minimal" });
      assert.deepEqual([made.status, made.text, made.headers.get("preference-applied")], [201, "", "return=minimal"]);
      const xml = await api.post("/orders", [{}, {}], { ...ann.headers, accept: "application/xml" });
      assert.match(xml.text, /<orders><order>.*<\/order><order>.*<\/orders>/);
      assert.equal((await api.post("/orders", [{}], { ...ann.headers, "if-none-match": "*" })).status, 412);
    },
  );
});

test("makes an array of changes in one transaction", async (t) => {
  const api = await serve(t);
  const [ann, bea] = [await api.user("Ann"), await api.user("Bea")];
  await api.post("/orders", [{}, {}, {}], ann.headers);
  const other = listIds(await api.post("/orders", [{}], bea.headers))[0]!;
  const change = (body: unknown, headers = ann.headers, path = "/orders"): Promise<Answered> =>
    api.patch(path, body, headers);

  await t.test("changes the records of an array, and returns them in the sent order", async () => {
    const done = await change([
      { id: 3, status: "paid" },
      { id: 1, status: "cancelled" },
    ]);
    assert.deepEqual([done.status, listIds(done)], [200, [3, 1]]);
    assert.deepEqual(done.json[0], (await api.get("/orders/3", ann.headers)).json);
    const typed = { ...ann.headers, "content-type": "application/merge-patch+json" };
    assert.equal((await change([{ id: 1, status: "open" }], typed)).status, 200);
    assert.deepEqual(listIds(await change([{ id: other, status: "paid" }, { id: 1 }], api.admin)), [other, 1]);
    await api.post("/orders/1/items", [{ product: "Key", quantity: 1, unit_price: "1" }], ann.headers);
    assert.equal((await change([{ id: 1, quantity: 7 }], ann.headers, "/orders/1/items")).json[0].quantity, 7);
    assert.deepEqual(listPointers(await change([{ id: 1, quantity: 8 }], ann.headers, "/orders/2/items")), ["/0/id"]);
    assert.equal((await change([{ id: 1, quantity: 8 }], bea.headers, "/orders/1/items")).status, 404);
  });

  await t.test("makes no change of an array if one is invalid, and names its position", async () => {
    const before = (await api.get("/orders", api.admin)).text;
    const rows: readonly (readonly [body: unknown, status: number, pointers: readonly string[]])[] = [
      [{ id: 1, status: "paid" }, 400, [""]],
      [[], 400, [""]],
      [[{ id: 1, status: "paid" }, 7], 400, ["/1"]],
      [[{ id: 1, status: "paid" }, { status: "paid" }], 400, ["/1/id"]],
      [[{ id: "1" }], 400, ["/0/id"]],
      [[{ id: 0 }], 400, ["/0/id"]],
      [[{ id: 1, status: "paid" }, { id: 2 }, { id: 1 }], 400, ["/2/id"]],
      [
        [
          { id: 1, status: "paid" },
          { id: 2, status: "ajar" },
        ],
        400,
        ["/1/status"],
      ],
      [
        [
          { id: 1, status: "paid" },
          { id: 99, status: "ajar" },
        ],
        400,
        ["/1/status"],
      ],
      [[{ id: 1, created_at: "2020-01-01T00:00:00Z" }], 400, ["/0/created_at"]],
      [[{ id: 1, status: "paid" }, { id: 99 }, { id: other }], 404, ["/1/id", "/2/id"]],
      [[{ id: 1, if_match: 7 }], 400, ["/0/if_match"]],
      [[{ id: 1, if_match: "7" }], 400, ["/0/if_match"]],
      [
        [
          { id: 1, status: "paid" },
          { id: 2, if_match: '"0"' },
        ],
        412,
        ["/1/if_match"],
      ],
    ];
    for (const [body, status, pointers] of rows) {
      const refused = await change(body);
      assert.deepEqual([refused.status, listPointers(refused)], [status, pointers], refused.text);
    }
    assert.equal((await change([{ id: 1, user_id: bea.id }])).status, 403);
    assert.equal((await change([{ id: 1 }], {})).status, 401);
    assert.equal((await api.get("/orders", api.admin)).text, before);
    assert.equal((await change([{ id: 1 }], api.admin, "/users")).status, 405);
    const patch = { ...ann.headers, "content-type": "application/json-patch+json" };
    const refused = await change([{ op: "remove", path: "/0" }], patch);
    assert.deepEqual(
      [refused.status, refused.headers.get("accept-patch")],
      [415, "application/merge-patch+json, application/json"],
    );
  });

  await t.test("changes the records of an array only if each is in the state that its if_match names", async () => {
    const [one, two] = [await api.get("/orders/1", ann.headers), await api.get("/orders/2", ann.headers)];
    const tags = [one.headers.get("etag"), two.headers.get("etag")];
    const body = [
      { id: 2, status: "paid", if_match: tags[1] },
      { id: 1, status: "paid", if_match: tags[0] },
    ];
    assert.equal((await change(body)).status, 200);
    assert.deepEqual(listPointers(await change(body)), ["/0/if_match", "/1/if_match"]);
    assert.equal((await change([{ id: 1, if_match: "*" }])).status, 200);
  });

  await t.test("makes an array of changes once under an idempotency key", async () => {
    const headers = { ...ann.headers, "idempotency-key": "two-changes-at-once" };
    const body = [
      { id: 2, status: "open" },
      { id: 1, status: "open" },
    ];
    const first = await change(body, headers);
    await change([{ id: 1, status: "paid" }]);
    const again = await change(body, headers);
    assert.deepEqual([again.status, again.text, again.headers.get("idempotency-replayed")], [200, first.text, "true"]);
    assert.equal((await api.get("/orders/1", ann.headers)).json.status, "paid");
    assert.equal((await change(body, { ...ann.headers, prefer: "return=minimal" })).status, 204);
  });

  await t.test("makes an array of changes while other callers change the same records", async () => {
    const bodies = Array.from({ length: 8 }, (_, at) =>
      [1, 2, 3].map((id) => ({ id, status: at % 2 === 0 ? "paid" : "open" })),
    );
    const answers = await Promise.all(bodies.map((body, at) => change(at % 3 === 0 ? body.toReversed() : body)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const { json } = await api.get("/orders", ann.headers);
    assert.equal(new Set(json.map(({ status }: { status: string }) => status)).size, 1);
  });
});

test("runs hooks and adds their changes for each record of an array", async (t) => {
  const notes = defineResource({
    name: "note",
    fields: { about: integer(), said: text() },
    filters: { about: ["eq"] },
  });
  const things = defineResource({
    name: "thing",
    fields: { label: text({ unique: true }), size: integer({ default: 1 }) },
    check: ({ label, size }) =>
      label === "odd" && size % 2 === 0
        ? [{ pointer: "/size", code: "invalid", detail: "An odd size is required." }]
        : [],
  });
  const mountedNotes = mount(notes, { permission: authenticated });
  const heard: unknown[] = [];
  const mountedThings = mount(things, {
    permission: authenticated,
    arrays: true,
    beforeWrite: ({ kind, draft }) => {
      const also = (said: string) =>
        ({ kind: "insert", collection: mountedNotes.collection, values: { about: keyOf(0), said } }) as const;
      return kind === "create"
        ? { values: { size: draft.values.size + 1 }, changes: [also("made"), also("seen")] }
        : {};
    },
    afterWrite: ({ kind, id, before, after }) => void heard.push([kind, id, before?.size ?? null, after?.size ?? null]),
  });
  const api = await serve(t, { config: { mounts: [mountedNotes, mountedThings] } });

  const made = await api.post("/things", [{ label: "a" }, { label: "b", size: 5 }], api.admin);
  assert.deepEqual(made.json, [
    { id: 1, label: "a", size: 2 },
    { id: 2, label: "b", size: 6 },
  ]);
  const { json: written } = await api.get("/notes", api.admin);
  assert.deepEqual(
    written.map(({ about, said }: Record<string, unknown>) => [about, said]),
    [
      [1, "made"],
      [1, "seen"],
      [2, "made"],
      [2, "seen"],
    ],
  );
  const twice = await api.post("/things", [{ label: "c" }, { label: "a" }], api.admin);
  assert.deepEqual([twice.status, listPointers(twice)], [409, ["/1/label"]]);
  const same = await api.post("/things", [{ label: "c" }, { label: "d" }, { label: "c" }], api.admin);
  assert.deepEqual([same.status, listPointers(same)], [409, ["/2/label"]]);
  const odd = await api.post("/things", [{ label: "c" }, { label: "odd", size: 2 }], api.admin);
  assert.deepEqual([odd.status, listPointers(odd)], [400, ["/1/size"]]);
  const changed = await api.patch(
    "/things",
    [
      { id: 2, size: 9 },
      { id: 1, label: "b" },
    ],
    api.admin,
  );
  assert.deepEqual([changed.status, listPointers(changed)], [409, ["/1/label"]]);
  assert.equal(
    (
      await api.patch(
        "/things",
        [
          { id: 2, size: 9 },
          { id: 1, size: 8 },
        ],
        api.admin,
      )
    ).status,
    200,
  );
  assert.equal((await api.get("/notes", api.admin)).json.length, 4);
  assert.deepEqual(heard, [
    ["create", 1, null, 2],
    ["create", 2, null, 6],
    ["update", 1, 2, 8],
    ["update", 2, 6, 9],
  ]);
});

test("calls `complete` for no record of an array if a precondition fails", async (t) => {
  const completedKinds: string[] = [];
  const things = defineResource({ name: "thing", fields: { label: text() } });
  const mounted = mount(things, {
    permission: authenticated,
    arrays: true,
    beforeWrite: ({ kind }) => ({
      complete() {
        completedKinds.push(kind);
        return [];
      },
    }),
  });
  const api = await serve(t, { config: { mounts: [mounted] } });
  await api.post("/things", [{ label: "a" }, { label: "b" }], api.admin);

  const made = await api.post("/things", [{ label: "c" }], { ...api.admin, "if-match": '"another"' });
  const changed = await api.patch(
    "/things",
    [
      { id: 1, label: "d" },
      { id: 2, label: "e", if_match: '"another"' },
    ],
    api.admin,
  );

  assert.deepEqual([made.status, changed.status], [412, 412]);
  assert.deepEqual(completedKinds, ["create", "create"]);
});

test("refuses arrays for a personal mount and for a resource with a field if_match", () => {
  const tagged = defineResource({ name: "thing", fields: { if_match: text() } });

  assert.throws(
    () => mount(tagged, { permission: authenticated, arrays: true, personal: true }),
    /personal.*if_match/s,
  );
});

test("stores the references of each record of an array in the sent order, or creates no record if one is invalid", async (t) => {
  const tags = defineResource({ name: "tag", fields: { label: text() } });
  const posts = defineResource({
    name: "post",
    fields: { title: text({ unique: true }), tags: references(tags, { default: [] }) },
    filters: { tags: ["eq"] },
  });
  const api = await serve(t, {
    config: {
      mounts: [mount(tags, { permission: authenticated }), mount(posts, { permission: authenticated, arrays: true })],
    },
  });
  const { headers } = await api.user("Ann");
  for (const label of ["a", "b", "c", "d"]) await api.post("/tags", { label }, headers);
  const chooseTags = (at: number): number[] => [(at % 4) + 1, ((at + 1) % 4) + 1, ((at + 2) % 4) + 1];
  const written = Array.from({ length: 120 }, (_, at) => ({ title: `post ${at}`, tags: chooseTags(at) }));
  const withBad = (at: number, bad: object): unknown[] => written.map((each, place) => (place === at ? bad : each));

  for (const [body, status, pointer] of [
    [withBad(70, { title: "post 70", tags: [1, 99, 2] }), 400, "/70/tags/1"],
    [withBad(119, { title: "post 3", tags: [] }), 409, "/119/title"],
  ] as const) {
    for (const key of [{}, { "idempotency-key": `refused-array-${status}` }]) {
      const refused = await api.post("/posts", body, { ...headers, ...key });
      assert.deepEqual([refused.status, listPointers(refused)], [status, [pointer]]);
      assert.equal(await countRecords(api, "/posts"), 0);
    }
  }

  const once = { ...headers, "idempotency-key": "an-array-of-posts" };
  const made = await api.post("/posts", written, once);
  assert.equal(made.status, 201);
  assert.deepEqual((await api.post("/posts", written, once)).json, made.json);
  assert.deepEqual(
    made.json.map(({ title, tags: named }: Record<string, unknown>) => ({ title, tags: named })),
    written,
  );
  const found = await api.get("/posts?tags=2&limit=200", headers);
  assert.deepEqual(
    found.json.map(({ title }: { title: string }) => title),
    written.filter(({ tags: named }) => named.includes(2)).map(({ title }) => title),
  );
  const changed = made.json.map(({ id }: { id: number }) => ({ id, tags: [4] }));
  assert.equal((await api.patch("/posts", changed, headers)).status, 200);
  assert.equal((await api.get("/posts?tags=4&limit=200", headers)).json.length, 120);
  assert.equal((await api.get("/posts?tags=2", headers)).json.length, 0);
});
