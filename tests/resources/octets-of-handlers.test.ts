import assert from "node:assert/strict";
import { test } from "node:test";
import { consolePages, documentation } from "../../src/door/features.ts";
import { anyone, defineResource, integer, json, mount, text } from "../../src/door/index.ts";
import { olderShape, references } from "../../src/door/resources.ts";
import { bothDatabases } from "../harness/both-databases.ts";
import { ownService, type Own, type OwnAnswer } from "../harness/own-service.ts";
import { weighed } from "../harness/weighed-store.ts";

/** The most octets that one request may read from the store (`docs/operation/limits.md`). */
const MOST_OCTETS = 8 * 1024 * 1024;
const databases = bothDatabases();

const tags = defineResource({ name: "tag", fields: { label: text({ default: "l" }), note: json({ optional: true }) } });
const posts = defineResource({
  name: "post",
  fields: {
    title: text({ maxLength: 10_000 }),
    rank: integer({ default: 0 }),
    tags: references(tags, { maxItems: 1000, onDelete: "remove", optional: true }),
    a: json({ optional: true }),
    b: json({ optional: true }),
    c: json({ optional: true }),
    d: json({ optional: true }),
  },
  filters: { rank: ["gte"], tags: ["eq"] },
  sorts: ["rank"],
  search: ["title"],
});
const comments = defineResource({
  name: "comment",
  within: posts,
  fields: { body: json({ optional: true }), title: text({ default: "t" }) },
});

/** The number of stored posts. Each has about 250 KB, so that all of them together are more than 8 MiB. */
const POSTS = 40;
const large = "x".repeat(60_000);
const many = Array.from({ length: 300 }, (_, at) => at + 1);
const post = { title: "t".repeat(10_000), tags: many, a: large, b: large, c: large, d: large };

function mountsWith(afterWrite: (() => void) | null) {
  const mountedComments = mount(comments, { permission: anyone, arrays: true });
  const mountedTags = mount(tags, { permission: anyone, arrays: true });
  const mountedPosts = mount(posts, {
    permission: anyone,
    arrays: true,
    expand: { labels: "tags", comments: mountedComments },
    ...(afterWrite === null ? {} : { afterWrite }),
    actions: {
      promote: { permission: anyone, handle: ({ record }) => ({ values: { rank: record.rank + 1 } }) },
      recount: { permission: anyone, on: "collection", handle: () => ({}) },
    },
  });
  const fields = { subject: "title", rank: "rank", a: "a", b: "b", c: "c", d: "d" } as const;
  const older = olderShape(mountedPosts, { prefix: "/v1", fields, deprecated: { since: "2026-01-01" } });
  return [mountedTags, mountedPosts, mountedComments, older];
}

interface Asked {
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const places = Array.from({ length: POSTS }, (_, at) => ({ id: at + 1, rank: 5 }));
const few = places.slice(0, 30);
const keyed = { "idempotency-key": "one-of-many-keys" };
const keyedToo = { "idempotency-key": "key-of-an-array" };
const html = { accept: "text/html" };
const conditional = { "if-match": '"x"' };

/** For each operation, the requests that read the most octets. */
const requests: Readonly<Record<string, readonly Asked[]>> = {
  "GET /tags": [{ path: "/tags?limit=1000" }],
  "POST /tags": [{ body: {} }, { body: Array(1000).fill({}) }, { body: {}, headers: conditional }],
  "PATCH /tags": [{ body: many.map((id) => ({ id, label: "m" })) }],
  "GET /tags/{id}": [{ path: "/tags/1" }],
  "PUT /tags/{id}": [{ path: "/tags/2", body: { label: "n" } }],
  "PATCH /tags/{id}": [{ path: "/tags/2", body: { label: "o" } }],
  "GET /posts": [
    { path: "/posts?limit=1000" },
    { path: "/posts?limit=1000&expand=labels,comments" },
    { path: "/posts?limit=3&expand=labels" },
    { path: "/posts?limit=1000&rank[gte]=0&sort=-rank,id", headers: { prefer: "count=exact" } },
    { path: `/posts?limit=1000&search=${"t".repeat(100)}` },
    { path: "/posts?limit=1000", headers: html },
  ],
  "QUERY /posts": [{ body: { limit: 1000, where: { any: [{ rank: { gte: 0 } }, { tags: { eq: 1 } }] } } }],
  "POST /posts": [{ body: post }, { body: [post, post, post] }, { body: post, headers: { ...keyed, ...html } }],
  "PATCH /posts": [
    { body: places },
    { body: places.map((each) => ({ ...each, if_match: '"x"' })) },
    { body: few },
    { body: few.map((each) => ({ ...each, tags: [] })), headers: keyedToo },
    { body: few.map((each) => ({ ...each, tags: [] })), headers: keyedToo },
    { body: few, headers: html },
    { body: few.map((each) => ({ ...each, tags: many })) },
  ],
  "GET /posts/{id}": [
    { path: "/posts/1" },
    { path: "/posts/1?expand=labels,comments" },
    { path: "/posts/1", headers: html },
  ],
  "PUT /posts/{id}": [{ path: "/posts/1", body: post }],
  "PATCH /posts/{id}": [{ path: "/posts/1", body: { rank: 1 }, headers: { "idempotency-key": "another-key" } }],
  "POST /posts/{id}/promote": [{ path: "/posts/1/promote", body: {} }],
  "POST /posts/recount": [{ path: "/posts/recount", body: {} }],
  "GET /posts/{post_id}/comments": [{ path: "/posts/1/comments?limit=1000" }],
  "QUERY /posts/{post_id}/comments": [{ path: "/posts/1/comments", body: { limit: 1000 } }],
  "POST /posts/{post_id}/comments": [{ path: "/posts/1/comments", body: [{ body: large }, { body: large }] }],
  "PATCH /posts/{post_id}/comments": [{ path: "/posts/1/comments", body: [{ id: 1, title: "u" }] }],
  "GET /posts/{post_id}/comments/{id}": [{ path: "/posts/1/comments/1" }],
  "PUT /posts/{post_id}/comments/{id}": [{ path: "/posts/1/comments/1", body: { body: large } }],
  "PATCH /posts/{post_id}/comments/{id}": [{ path: "/posts/1/comments/1", body: { title: "v" } }],
  "DELETE /posts/{post_id}/comments/{id}": [{ path: "/posts/1/comments/1" }],
  "GET /v1/posts": [{ path: "/v1/posts?limit=1000" }],
  "QUERY /v1/posts": [{ path: "/v1/posts", body: { limit: 1000 } }],
  "POST /v1/posts": [{ path: "/v1/posts", body: { subject: "s", a: large } }],
  "PATCH /v1/posts": [
    { path: "/v1/posts", body: few },
    { path: "/v1/posts", body: places },
  ],
  "GET /v1/posts/{id}": [{ path: "/v1/posts/2" }],
  "PUT /v1/posts/{id}": [{ path: "/v1/posts/2", body: { subject: "s", a: large } }],
  "PATCH /v1/posts/{id}": [{ path: "/v1/posts/2", body: { rank: 1 } }],
  "DELETE /v1/posts/{id}": [{ path: "/v1/posts/2" }],
  "POST /v1/posts/{id}/promote": [{ path: "/v1/posts/3/promote", body: {} }],
  "POST /v1/posts/recount": [{ path: "/v1/posts/recount", body: {} }],
  "QUERY /tags": [{ body: { limit: 1000 } }],
  // Deleting a tag also removes its id from every post.
  "DELETE /tags/{id}": [{ path: "/tags/1" }, { path: "/tags/3" }],
  "DELETE /posts/{id}": [{ path: "/posts/1" }],
};

async function fill(own: Own): Promise<void> {
  const made: OwnAnswer[] = [await own.ask("POST", "/tags", { as: "ada", body: Array(300).fill({ note: [1] }) })];
  for (let at = 0; at < POSTS; at += 4)
    made.push(await own.ask("POST", "/posts", { as: "ada", body: [post, post, post, post] }));
  for (let at = 0; at < 6; at++)
    made.push(await own.ask("POST", "/posts/1/comments", { as: "ada", body: Array(15).fill({ body: large }) }));
  assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]));
}

/**
 * Returns the operations that the service documents, and `QUERY` for each collection with `GET`, because OpenAPI 3.1
 * has no `QUERY`.
 */
async function listOperations(own: Own): Promise<readonly string[]> {
  const { paths } = (await own.get("/openapi.json")).json;
  const served = Object.entries<object>(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => /^(?:get|put|post|delete|patch)$/.test(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const lists = served.filter((each) => /^GET .*(?<!\})$/.test(each)).map((each) => each.replace("GET", "QUERY"));
  return [...served, ...lists].filter((each) => /^\w+ (?:\/v1)?\/(?:tags|posts)/.test(each));
}

test("reads at most 8 MiB from the store for any request", async (t) => {
  for (const afterWrite of [null, () => undefined])
    for (const database of await databases(t)) {
      const { store, takeOctets } = weighed(database.open());
      const features = [documentation({ title: "t", version: "1" }), consolePages({ title: "t" })];
      const own = await ownService(t, { store, features, mounts: mountsWith(afterWrite) });
      await fill(own);
      const operations = await listOperations(own);
      assert.deepEqual(operations.toSorted(), Object.keys(requests).toSorted());

      for (const [operation, variants] of Object.entries(requests))
        for (const { path = operation.split(" ")[1]!, body, headers = {} } of variants) {
          takeOctets();
          const [method] = operation.split(" ") as [string];
          const sent = body === undefined ? {} : { body };
          const { status, text: said } = await own.ask(method, path, { as: "ada", ...sent, headers });
          const octets = takeOctets();
          assert.ok(status < 500, `${operation}: ${status} ${said.slice(0, 300)}`);
          assert.ok(octets <= MOST_OCTETS, `${database.engine}, ${operation}, ${path}: ${octets} octets`);
        }
    }
});
