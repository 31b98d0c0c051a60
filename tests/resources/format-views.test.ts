import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Permission } from "../../src/door/auth.ts";
import type { Format, View } from "../../src/door/http.ts";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  caller,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  nobody,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { ownService, type OwnAnswer } from "../harness/own-service.ts";

const books = defineResource({
  name: "book",
  fields: { title: text(), owner_id: integer({ default: caller }) },
  filters: { title: ["eq"] },
});
const pages = defineResource({
  name: "page",
  within: books,
  fields: { line: text(), next_id: reference(books, { optional: true }) },
});
const lend = { body: { to: text() }, description: "Lend it", handle: () => undefined };

/** A format that writes its view as JSON. */
const seen: Format = {
  mediaType: "text/x-seen",
  problemMediaType: "text/x-seen",
  tagSuffix: "-seen",
  charset: "utf-8",
  contentSecurityPolicy: "default-src 'self'",
  tagged: "by content",
  write: ({ value }, view) => tell(view, { value }),
  writeProblem: ({ code }, view) => tell(view, { code }),
};

async function tell(view: View, content: object): Promise<string> {
  const { status, headers, tag, place, sent, identity } = view;
  const offers = (await view.offers(view.call.header("x-offers"))).map(({ method, path }) => `${method} ${path}`);
  const other = await view.ask("/books/1?fields=id");
  const shown = other?.body?.kind === "data" ? other.body.value : null;
  return JSON.stringify({
    ...content,
    status,
    links: headers.filter(([name]) => name === "Link").length,
    tag,
    place: place === null ? null : { ...place, resource: place.resource?.name ?? null },
    sent,
    user: identity?.username ?? null,
    offers,
    other: shown,
  });
}

const own = anyOf(administrator, owner("owner_id"));
const asks = { headers: { accept: "text/x-seen" } };

const now = defineEndpoint({
  method: "GET",
  path: "/now",
  access: anyone,
  handle: () => ({ status: 200, cache: "public", body: { kind: "data", value: { now: 1 }, element: "now" } }),
});

async function library(t: Parameters<typeof ownService>[0], permission: Permission<"owner_id", "owner_id"> = own) {
  const service = await ownService(t, {
    formats: [seen],
    mounts: [
      mount(books, { permission, actions: { lend: { ...lend, permission } } }),
      mount(pages, { permission: authenticated }),
    ],
    endpoints: [now],
  });
  await service.ask("POST", "/books", { as: "ada", body: { title: "Emma" } });
  await service.ask("POST", "/books", { as: "ben", body: { title: "Ulysses" } });
  return service;
}

test("gives a format the URL, the caller and the caller's actions in its view", async (t) => {
  const api = await library(t);

  const record = await api.get("/books/1", { as: "ada", ...asks });
  const own = await api.get("/books/1", { as: "ada" });
  const list = await api.get("/books?title=Emma", { as: "ada", ...asks });

  const { etag: _, ...place } = record.json;
  assert.deepEqual(place, {
    value: { id: 1, title: "Emma", owner_id: 2 },
    status: 200,
    links: 0,
    tag: own.headers.get("etag"),
    place: {
      path: "/books/{id}",
      params: { id: 1 },
      method: "GET",
      action: "read",
      resource: "book",
      logsIn: false,
      hidesQuery: false,
      expandable: [],
      form: null,
    },
    sent: null,
    user: "user 2",
    offers: ["GET /books/1", "PUT /books/1", "PATCH /books/1", "DELETE /books/1", "POST /books/1/lend"],
    other: { id: 1 },
  });
  assert.equal(list.json.links, 1);
  assert.deepEqual(list.json.offers, ["GET /books", "QUERY /books", "POST /books"]);
  assert.equal(list.headers.get("content-type"), "text/x-seen; charset=utf-8");
  assert.equal(list.headers.get("content-security-policy"), "default-src 'self'");
});

test("sends each caller a different ETag and no public response if a format writes its view", async (t) => {
  const api = await library(t, anyone);

  const [ada, ben] = await Promise.all(["ada", "ben"].map((as) => api.get("/books/1", { as, ...asks })));
  const shared = await api.get("/now");
  const nowAnswer = await api.get("/now", asks);

  assert.notEqual(ada!.headers.get("etag"), ben!.headers.get("etag"));
  const again = await api.get("/books/1", {
    as: "ada",
    headers: { ...asks.headers, "if-none-match": ada!.headers.get("etag")! },
  });
  assert.equal(again.status, 304);
  assert.equal(shared.headers.get("cache-control"), "public, no-cache");
  assert.equal(nowAnswer.headers.get("cache-control"), "private, no-cache");
});

test("gives a format the sent body with a problem, but no data that the caller may not see", async (t) => {
  const api = await library(t);
  const body = { title: 7 };

  const wrong = await api.ask("PATCH", "/books/1", { as: "ada", body, ...asks });
  const hidden = await api.get("/books/1", { as: "ben", ...asks });
  const unknown = await api.get("/books", { headers: asks.headers });
  const nowhere = await api.get("/nothing", { as: "ada", ...asks });

  assert.deepEqual([wrong.status, wrong.json.code, wrong.json.sent], [400, "invalid", body]);
  assert.equal(wrong.json.other.id, 1);
  assert.equal(wrong.headers.get("content-security-policy"), "default-src 'self'");
  assert.deepEqual([hidden.status, hidden.json.offers, hidden.json.other], [404, [], null]);
  assert.deepEqual([unknown.status, unknown.json.user, unknown.json.offers], [401, null, []]);
  assert.deepEqual([nowhere.status, nowhere.json.place, nowhere.json.other], [404, null, null]);
});

test("answers in the default format if a custom format fails to write a problem", async (t) => {
  const broken = { ...seen, writeProblem: async () => Promise.reject(new Error("broken")) };
  const { get, observed } = await ownService(t, { formats: [broken] });

  const answer = await get("/nothing", asks);

  assert.deepEqual([answer.status, answer.json.code], [500, "internal"]);
  assert.ok(observed.some((each) => each.kind === "fault"));
});

test("offers exactly the allowed actions, with any permissions", async (t) => {
  const kinds = [anyone, nobody, authenticated, administrator, own, owner("owner_id")] as const;
  const one = fc.constantFrom(...kinds);
  const actions = ["list", "create", "read", "replace", "update", "delete"] as const;
  const permissions = fc.record(Object.fromEntries(actions.map((action) => [action, one])), {
    requiredKeys: ["read"],
  });
  const calls = [
    ["GET", "/books"],
    ["POST", "/books", { title: "Emma" }],
    ["GET", "/books/1"],
    ["PUT", "/books/1", { title: "Emma", owner_id: 2 }],
    ["PATCH", "/books/1", {}],
    ["DELETE", "/books/1"],
    ["POST", "/books/1/lend", { to: "Ben" }],
    ["GET", "/books/1/pages"],
    ["POST", "/books/1/pages", { line: "It is a truth" }],
  ] as const;
  // A precondition that never holds, so that nothing is changed.
  const never = { "if-match": '"none"' };
  const isAllowed = ({ status }: OwnAnswer): boolean => status === 200 || status === 412;

  await fc.assert(
    fc.asyncProperty(permissions, one, fc.constantFrom("root", "ada", "ben"), async (permission, lends, as) => {
      const { ask, service } = await ownService(t, {
        formats: [seen],
        endpoints: [now],
        mounts: [
          mount(books, { permission, actions: { lend: { ...lend, permission: lends } } }),
          mount(pages, { permission: authenticated }),
        ],
      });
      await service.store.write({
        changes: [{ kind: "insert", collection: booksTable, values: { title: "Emma", owner_id: 2 } }],
      });
      for (const [method, path, body] of calls) {
        const headers = method === "GET" ? {} : never;
        const answer = await ask(method, path, { as, headers, ...(body === undefined ? {} : { body }) });
        const nowAnswer = await ask("GET", "/now", {
          as,
          headers: { ...asks.headers, "x-offers": path.replace(/\/lend$/, "") },
        });
        const offers: readonly string[] = nowAnswer.json.offers;
        assert.equal(offers.includes(`${method} ${path}`), isAllowed(answer), `${method} ${path} ${answer.text}`);
      }
    }),
    { numRuns: 12 },
  );
});

const booksTable = mount(books, { permission: anyone }).collection;
