import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  createService,
  defineResource,
  integer,
  mount,
  owner,
  text,
  type Service,
} from "../../src/door/index.ts";
import { DeclarationError, olderShape, references, type Fields } from "../../src/door/resources.ts";
import { serve, type Answered, type API } from "../harness/serve.ts";
import { sharedDatabase } from "../harness/test-store.ts";

const tags = defineResource({
  name: "tag",
  fields: { label: text({ maxLength: 50 }), owner_id: integer({ optional: true }) },
});
const albums = defineResource({ name: "album", id: "uuid", fields: { title: text() } });
const posts = defineResource({
  name: "post",
  fields: {
    title: text({ maxLength: 100 }),
    tags: references(tags, { default: [], maxItems: 5 }),
    albums: references("albums", { id: "uuid", optional: true }),
    related: references("posts", { default: [] }),
  },
  filters: { tags: ["eq", "in"], albums: ["eq"], title: ["eq"] },
  sorts: ["title"],
});
const notes = defineResource({ name: "note", within: posts, fields: { tags: references(tags) } });
const ours = anyOf(owner("owner_id"), administrator);
const mountedTags = mount(tags, { permission: { list: ours, read: ours, create: anyone, delete: anyone } });
const mountedAlbums = mount(albums, { permission: anyone });
const mountedPosts = mount(posts, {
  permission: anyone,
  arrays: true,
  expand: { labels: "tags", others: "related" },
  beforeWrite: ({ kind, draft }) =>
    kind === "create" && draft.values.title === "tagged" ? { values: { tags: [1] } } : {},
  actions: { untag: { permission: anyone, handle: () => ({ values: { tags: [] } }) } },
});
const mountedNotes = mount(notes, { permission: authenticated });
const older = olderShape(mountedPosts, { prefix: "/v1", fields: { name: "title", labels: "tags" } });
const mounts = [mountedTags, mountedAlbums, mountedPosts, mountedNotes, older];

async function start(t: TestContext): Promise<API> {
  const api = await serve(t, { config: { mounts } });
  for (const label of ["one", "two", "three"]) assert.equal((await api.post("/tags", { label })).status, 201);
  return api;
}

const pointers = ({ json }: Answered): string[] =>
  (json.errors ?? []).map(({ pointer }: { pointer: string }) => pointer);
const ids = ({ json, text: said }: Answered): unknown =>
  Array.isArray(json) ? json.map(({ id }: { id: number }) => id) : said;

test("stores ids of other records in a field", async (t) => {
  const api = await start(t);

  await t.test("keeps the ids of a list in the sent order, in every representation", async () => {
    const made = await api.post("/posts", { title: "A", tags: [3, 1] });
    assert.deepEqual([made.status, made.json], [201, { id: 1, title: "A", tags: [3, 1], albums: null, related: [] }]);
    assert.deepEqual((await api.get("/posts/1")).json, made.json);
    assert.deepEqual((await api.get("/posts")).json, [made.json]);
    assert.deepEqual((await api.put("/posts/1", { title: "A", tags: [1, 2] })).json.tags, [1, 2]);
    assert.deepEqual((await api.patch("/posts/1", { tags: [2, 3, 1] })).json.tags, [2, 3, 1]);
    const patch = [
      { op: "remove", path: "/tags/0" },
      { op: "add", path: "/tags/-", value: 2 },
    ];
    const patched = await api.patch("/posts/1", patch, { "content-type": "application/json-patch+json" });
    assert.deepEqual(patched.json.tags, [3, 1, 2]);
    const csv = await api.get("/posts?fields=id,tags", { accept: "text/csv" });
    assert.equal(csv.text, 'id,tags\r\n1,"[3,1,2]"\r\n');
    const xml = "<post><title>X</title><tags>[2]</tags></post>";
    assert.deepEqual((await api.post("/posts", xml, { "content-type": "application/xml" })).json.tags, [2]);
    assert.deepEqual((await api.post("/posts", { title: "B" })).json.tags, []);
    assert.deepEqual((await api.post("/posts", { title: "tagged" })).json.tags, [1]);
    assert.deepEqual((await api.get("/v1/posts/1")).json, { id: 1, name: "A", labels: [3, 1, 2] });
    assert.deepEqual((await api.get("/v1/posts?labels=3")).json, [{ id: 1, name: "A", labels: [3, 1, 2] }]);
    assert.deepEqual((await api.put("/posts/90", { title: "P", tags: [3] })).json.tags, [3]);
    assert.deepEqual(ids(await api.get("/posts?tags=3")), [1, 90]);
  });

  await t.test("filters by the items of a list of ids", async () => {
    assert.deepEqual(ids(await api.get("/posts?tags=1")), [1, 4]);
    assert.deepEqual(ids(await api.get("/posts?tags=2&tags=1&sort=-title")), [4, 2, 1]);
    assert.deepEqual(ids(await api.get("/posts?tags[in]=2,99&title=A")), [1]);
    assert.deepEqual(ids(await api.get("/posts?tags=99")), []);
    const where = { any: [{ tags: { eq: 1 } }, { title: { eq: "B" } }] };
    assert.deepEqual(ids(await api.ask("QUERY", "/posts", { body: { where } })), [1, 3, 4]);
    const not = { all: [{ not: { tags: { in: [1, 2] } } }] };
    assert.deepEqual(ids(await api.ask("QUERY", "/posts", { body: { where: not } })), [3, 90]);
    assert.equal((await api.get("/posts?tags=1&limit=1", { prefer: "count=exact" })).headers.get("x-total-count"), "2");
    for (const query of ["tags=x", "tags[gt]=1", "sort=tags"])
      assert.equal((await api.get(`/posts?${query}`)).status, 400);
  });

  await t.test("names invalid ids by their pointers", async () => {
    const rows: readonly (readonly [tags: unknown, places: readonly string[]])[] = [
      [1, ["/tags"]],
      [null, ["/tags"]],
      [
        [1, "2", 0],
        ["/tags/1", "/tags/2"],
      ],
      [[1, 2, 1], ["/tags/2"]],
      [[1, 2, 3, 4, 5, 6], ["/tags"]],
      [[1, 99], ["/tags/1"]],
    ];
    for (const [sent, places] of rows)
      for (const [method, path] of [
        ["POST", "/posts"],
        ["PATCH", "/posts/1"],
      ] as const) {
        const answer = await api.ask(method, path, { body: { title: "W", tags: sent } });
        assert.deepEqual([answer.status, pointers(answer)], [400, places], `${method} ${JSON.stringify(sent)}`);
      }
    const several = await api.post("/posts", [{ title: "C" }, { title: "D", tags: [2, 98] }]);
    assert.deepEqual([several.status, pointers(several)], [400, ["/1/tags/1"]], several.text);
    const changes = await api.patch("/posts", [
      { id: 1, tags: [1] },
      { id: 3, tags: [2, 98] },
    ]);
    assert.deepEqual([changes.status, pointers(changes)], [400, ["/1/tags/1"]], changes.text);
    const unknown = await api.post("/v1/posts", { name: "E", labels: [97] });
    assert.deepEqual([unknown.status, pointers(unknown)], [400, ["/labels/0"]], unknown.text);
    assert.deepEqual(ids(await api.get("/posts?title=W")), []);
    assert.deepEqual((await api.get("/posts/1")).json.tags, [3, 1, 2]);
  });
});

test("refuses to delete a referenced record, and deletes a record that refers to others", async (t) => {
  const api = await start(t);
  const album = (await api.post("/albums", { title: "L" })).json.id as string;
  await api.post("/posts", [
    { title: "A", tags: [1, 2], albums: [album] },
    { title: "B", tags: [2], related: [1] },
  ]);

  assert.equal((await api.delete("/tags/1")).json.code, "referenced");
  assert.equal((await api.delete(`/albums/${album}`)).json.code, "referenced");
  assert.equal((await api.delete("/posts/1")).json.code, "referenced");
  assert.deepEqual(ids(await api.get(`/posts?albums=${album.toUpperCase()}`)), [1]);
  assert.equal((await api.patch("/posts/1", { tags: [2], albums: null })).status, 200);
  assert.equal((await api.delete("/tags/1")).status, 204);
  assert.equal((await api.delete(`/albums/${album}`)).status, 204);
  assert.equal((await api.delete("/tags/2")).status, 409);
  assert.deepEqual((await api.post("/posts/1/untag")).json.tags, []);
  assert.equal((await api.delete("/posts/2")).status, 204);
  assert.equal((await api.delete("/tags/2")).status, 204);
  assert.equal((await api.delete("/posts/1")).status, 204);
  const note = await api.post("/posts", { title: "N" });
  assert.equal((await api.post(`/posts/${note.json.id}/notes`, { tags: [3] }, api.admin)).status, 201);
  assert.equal((await api.delete("/tags/3")).status, 409);
  assert.equal((await api.delete(`/posts/${note.json.id}`)).status, 204);
  assert.equal((await api.delete("/tags/3")).status, 204);
});

test("expands a list of ids to the records that the caller may read", async (t) => {
  const api = await start(t);
  const ann = await api.user("Ann");
  await api.post("/tags", { label: "hers", owner_id: ann.id });
  await api.post("/posts", [
    { title: "A", tags: [4, 1, 3] },
    { title: "B", related: [1] },
  ]);

  const all = await api.get("/posts?expand=labels,others.labels", api.admin);
  assert.deepEqual(
    all.json[0].labels.map(({ label }: { label: string }) => label),
    ["hers", "one", "three"],
    all.text,
  );
  assert.deepEqual(all.json[1].labels, []);
  assert.deepEqual(all.json[1].others[0].labels.length, 3);
  const one = await api.get("/posts/1?expand=labels", ann.headers);
  assert.deepEqual([one.json.tags, one.json.labels.map(({ id }: { id: number }) => id)], [[4, 1, 3], [4]]);
  const xml = await api.get("/posts/1?expand=labels", { ...api.admin, accept: "application/xml" });
  assert.match(xml.text, /<labels><tag><id>4<\/id>/);
});

test("answers a repeat like the first request, and filters by the stored ids after concurrent writes", async (t) => {
  const api = await start(t);
  const key = { "idempotency-key": "once-and-again", ...api.admin };
  const once = await api.post("/posts", { title: "A", tags: [1, 3] }, key);
  assert.deepEqual((await api.post("/posts", { title: "A", tags: [1, 3] }, key)).json, once.json);

  const sets = [[1], [2], [3], [1, 2], [2, 3], []];
  await Promise.all(sets.map((each) => api.patch("/posts/1", { tags: each })));
  const { json } = await api.get("/posts/1");
  for (const id of [1, 2, 3])
    assert.deepEqual(
      ids(await api.get(`/posts?tags=${id}`)),
      json.tags.includes(id) ? [1] : [],
      `tag ${id} of ${json.tags}`,
    );
});

test("describes the items of a list of ids in the API's description", async (t) => {
  const api = await start(t);
  const { json } = await api.get("/openapi.json");

  const { tags: said } = json.components.schemas.PostDraft.properties;
  assert.deepEqual([said.type, said.items.type, said.uniqueItems, said.default], ["array", "integer", true, []]);
  const filter = json.paths["/posts"].get.parameters.find(({ name }: { name: string }) => name === "tags");
  assert.equal(filter.schema.type, "integer");
  assert.equal((await api.get("/posts/1", { accept: "text/html" })).status, 404);
  await api.post("/posts", { title: "A", tags: [1] });
  for (const path of ["/posts", "/posts/1"])
    assert.equal((await api.get(path, { ...api.admin, accept: "text/html" })).status, 200);
});

test("reports an invalid declaration of references", () => {
  const rows: readonly (readonly [() => unknown, RegExp])[] = [
    [
      () => defineResource({ name: "a", fields: { b: references("" as never) } }),
      /field b: references: its target is ''/,
    ],
    [
      () => defineResource({ name: "a", fields: { b: references("tags", { id: "text" } as never) } }),
      /field b: references: ids that are texts/,
    ],
    [() => defineResource({ name: "a", fields: { b: references("tags", { maxItems: 5000 }) } }), /maxItems is 5000/],
    [() => defineResource({ name: "a", fields: { b: references("tags") }, filters: { b: ["gt"] } }), /eq and in/],
    [() => defineResource({ name: "a", fields: { b: references("tags") }, sorts: ["b"] }), /cannot be sorted by/],
    [() => defineResource({ name: "a", fields: { b: references("tags", { unique: true }) } }), /cannot be unique/],
  ];
  for (const [make, message] of rows)
    assert.throws(
      make,
      (error: unknown) => error instanceof DeclarationError && message.test(error.message),
      String(message),
    );
});

test("adds a relation to an existing resource at the next start", async (t) => {
  const database = await sharedDatabase(t);
  const open = async (fields: Fields, run: (service: Service) => Promise<void>): Promise<void> => {
    const things = mount(defineResource({ name: "thing", fields }), { permission: anyone });
    const service = await createService({
      store: database.open(),
      mounts: [mountedTags, things],
    });
    await run(service);
    await service.close();
    await service.store.close();
  };
  const ask = async (service: Service, method: string, target: string, body?: object): Promise<Response> =>
    service.fetch(
      new Request(`http://127.0.0.1${target}`, {
        method,
        headers: { "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { peer: "127.0.0.1" },
    );

  await open({ name: text() }, async (service) => void (await ask(service, "POST", "/things", { name: "A" })));
  await open({ name: text(), tags: references(tags, { default: [] }) }, async (service) => {
    assert.deepEqual(await (await ask(service, "GET", "/things")).json(), [{ id: 1, name: "A", tags: [] }]);
    await ask(service, "POST", "/tags", { label: "one" });
    assert.equal((await ask(service, "PATCH", "/things/1", { tags: [1] })).status, 200);
    assert.equal((await ask(service, "DELETE", "/tags/1")).status, 409);
  });
});
