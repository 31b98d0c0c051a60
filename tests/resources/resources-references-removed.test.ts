import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { outbox } from "../../src/door/features.ts";
import { anyone, defineResource, mount, text } from "../../src/door/index.ts";
import { references, updatedAt, type Written } from "../../src/door/resources.ts";
import { serve, type API } from "../harness/serve.ts";

const tags = defineResource({ name: "tag", fields: { label: text({ maxLength: 50 }) } });
const posts = defineResource({
  name: "post",
  fields: {
    title: text({ maxLength: 100 }),
    tags: references(tags, { default: [], onDelete: "remove" }),
    more: references(tags, { optional: true, onDelete: "remove" }),
    needed: references(tags, { default: [], onDelete: "remove" }),
    related: references("posts", { default: [], onDelete: "remove" }),
    changed_at: updatedAt(),
  },
  filters: { tags: ["eq"] },
});
const boards = defineResource({
  name: "board",
  fields: { tags: references(tags, { minItems: 1, onDelete: "remove" }) },
});

async function start(t: TestContext): Promise<{ readonly api: API; readonly writes: Written[] }> {
  const writes: Written[] = [];
  // The delivery of each event fails, so that the event stays in the outbox, where the test reads it.
  const deliver = (): Promise<void> => Promise.reject(new Error("later"));
  const mounts = [
    mount(tags, { permission: anyone, afterWrite: (each) => void writes.push(each as unknown as Written) }),
    mount(posts, { permission: anyone, afterWrite: (each) => void writes.push(each as unknown as Written) }),
    mount(boards, { permission: anyone }),
  ];
  const features = [outbox({ subscribers: [{ name: "all", to: [posts, tags], deliver }] })];
  const api = await serve(t, { config: { mounts, features } });
  for (const label of ["one", "two", "three"]) await api.post("/tags", { label });
  return { api, writes };
}

test("removes the id of a deleted record from the lists that contain it, and reports an update of each changed record", async (t) => {
  const { api, writes } = await start(t);
  const one = await api.post("/posts", { title: "A", tags: [3, 1], more: [1] });
  await api.post("/posts", { title: "B", tags: [2], related: [1] });
  const untouched = await api.get("/posts/2");
  const etag = (await api.get("/posts/1")).headers.get("etag");
  writes.length = 0;
  api.clock.turn(60);

  const removed = await api.delete("/tags/1");

  assert.equal(removed.status, 204, removed.text);
  const now = await api.get("/posts/1");
  assert.deepEqual([now.json.tags, now.json.more, now.json.title], [[3], [], "A"]);
  assert.notEqual(now.headers.get("etag"), etag);
  assert.equal(Date.parse(now.json.changed_at) - Date.parse(one.json.changed_at), 60_000);
  assert.equal((await api.patch("/posts/1", { title: "C" }, { "if-match": etag! })).status, 412);
  assert.equal((await api.get("/posts/2")).headers.get("etag"), untouched.headers.get("etag"));
  assert.deepEqual((await api.get("/posts?tags=1")).json, []);
  assert.equal((await api.get("/tags/1")).status, 404);
  assert.deepEqual(
    writes.map(({ kind, id, before, after }) => [kind, id, before?.["tags" as never], after?.["tags" as never]]),
    [
      ["update", 1, [3, 1], [3]],
      ["delete", 1, undefined, undefined],
    ],
  );
  const { json: events } = await api.get("/outbox?limit=1000", api.admin);
  const last = events.slice(-2).map(({ resource, kind, record }: Record<string, unknown>) => [resource, kind, record]);
  assert.deepEqual(last, [
    ["posts", "update", 1],
    ["tags", "delete", 1],
  ]);
  const { json: said } = await api.get("/openapi.json");
  assert.match(
    said.paths["/tags/{id}"].delete.responses["204"].description,
    /taken out of tags of posts and more of posts/,
  );
});

test("deletes a record that contains its own id in a list, and removes the id from the list of another record", async (t) => {
  const { api } = await start(t);
  await api.post("/posts", { title: "A" });
  await api.patch("/posts/1", { related: [1] });
  await api.post("/posts", { title: "B", related: [1] });

  assert.equal((await api.delete("/posts/1")).status, 204);
  assert.deepEqual((await api.get("/posts/2")).json.related, []);
});

test("refuses a deletion that would leave a list with fewer items than its minimum, and changes nothing", async (t) => {
  const { api } = await start(t);
  await api.post("/boards", { tags: [1] });
  await api.post("/posts", { title: "A", tags: [1] });

  const refused = await api.delete("/tags/1");

  assert.deepEqual([refused.status, refused.json.code], [409, "referenced"]);
  assert.match(refused.json.detail, /boards, whose tags need 1/);
  assert.deepEqual((await api.get("/posts/1")).json.tags, [1]);
  await api.patch("/boards/1", { tags: [1, 2] });
  assert.equal((await api.delete("/tags/1", { "if-match": '"wrong"' })).status, 412);
  assert.equal((await api.delete("/tags/1")).status, 204);
  assert.deepEqual((await api.get("/boards/1")).json.tags, [2]);
});

test("refuses a deletion if more records contain the id than one transaction can change", async (t) => {
  const mounts = [mount(tags, { permission: anyone }), mount(posts, { permission: anyone, arrays: true })];
  const api = await serve(t, { config: { mounts } });
  await api.post("/tags", { label: "one" });
  const many = Array.from({ length: 1000 }, (_, at) => ({ title: `${at}`, tags: [1] }));
  assert.equal((await api.post("/posts", many)).status, 201);
  const last = await api.post("/posts", { title: "last", tags: [1] });

  assert.match((await api.delete("/tags/1")).json.detail, /more than 1000 posts/);
  assert.equal((await api.patch(`/posts/${last.json.id}`, { tags: [] })).status, 200);
  assert.equal((await api.delete("/tags/1")).status, 204);
  assert.deepEqual((await api.get("/posts?fields=tags&limit=1")).json, [{ tags: [] }]);
});

test("leaves no deleted id in a list, also if clients write the list during the deletion", async (t) => {
  const { api } = await start(t);
  for (let at = 1; at <= 8; at++) await api.post("/posts", { title: `${at}`, tags: at % 2 === 0 ? [1] : [] });
  const naming = Array.from({ length: 24 }, (_, at) =>
    api.patch(`/posts/${1 + (at % 8)}`, { tags: at < 12 ? [1, 2] : [2] }),
  );

  const [removed, ...named] = await Promise.all([api.delete("/tags/1"), ...naming]);

  assert.ok([204, 409].includes(removed.status), removed.text);
  for (const each of named) assert.ok([200, 400, 409].includes(each.status), each.text);
  if (removed.status === 409) assert.equal((await api.delete("/tags/1")).status, 204);
  for (const { tags: left } of (await api.get("/posts")).json) assert.ok(!left.includes(1));
  assert.deepEqual((await api.get("/posts?tags=1")).json, []);
});
