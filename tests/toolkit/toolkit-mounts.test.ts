import assert from "node:assert/strict";
import { test } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import {
  administrator,
  allOf,
  anyOf,
  anyone,
  authenticated,
  defineResource,
  integer,
  mount,
  owner,
  problem,
  text,
} from "../../src/door/index.ts";
import type { Write } from "../../src/door/resources.ts";
import type { Change } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";

const shops = defineResource({ name: "shop", fields: { owner_id: integer(), name: text({ maxLength: 100 }) } });
const shelves = defineResource({ name: "shelf", plural: "book-shelves", within: shops, fields: { label: text() } });
const books = defineResource({
  name: "book2",
  plural: "books",
  within: shelves,
  fields: { title: text({ maxLength: 100 }) },
  sorts: ["title"],
});

test("serves nested records only below their parents, three levels deep", async (t) => {
  const { ask, observed } = await ownService(t, {
    mounts: [
      mount(books, { permission: authenticated }),
      mount(shelves, { permission: authenticated }),
      mount(shops, {
        permission: {
          list: anyone,
          read: anyone,
          create: administrator,
          update: anyOf(administrator, owner("owner_id")),
          delete: administrator,
        },
      }),
    ],
  });
  for (const owner_id of [2, 3]) await ask("POST", "/shops", { as: "root", body: { owner_id, name: "a" } });
  const rows: readonly (readonly [
    method: string,
    path: string,
    as: string,
    body: object | undefined,
    status: number,
  ])[] = [
    ["POST", "/shops/1/book-shelves", "ada", { label: "novels" }, 201],
    ["POST", "/shops/2/book-shelves", "ben", { label: "poems" }, 201],
    ["POST", "/shops/1/book-shelves", "ben", { label: "x" }, 403],
    ["POST", "/shops/9/book-shelves", "root", { label: "x" }, 404],
    ["POST", "/shops/1/book-shelves", "ada", { label: "x", shop_id: 2 }, 400],
    ["POST", "/shops/1/book-shelves/1/books", "ada", { title: "Emma" }, 201],
    ["POST", "/shops/1/book-shelves/2/books", "ada", { title: "x" }, 404],
    ["POST", "/shops/2/book-shelves/1/books", "root", { title: "x" }, 404],
    ["POST", "/shops/2/book-shelves/2/books", "ada", { title: "x" }, 403],
    ["GET", "/shops/1/book-shelves/1/books/1", "ben", undefined, 200],
    ["GET", "/shops/1/book-shelves/1/books/1/", "ben", undefined, 200],
    ["GET", "/shops/2/book-shelves/1/books/1", "root", undefined, 404],
    ["GET", "/shops/2/book-shelves/2/books/1", "root", undefined, 404],
    ["GET", "/shops/2/book-shelves/1/books", "root", undefined, 404],
    ["PATCH", "/shops/1/book-shelves/1/books/1", "ben", { title: "x" }, 403],
    ["PUT", "/shops/2/book-shelves/2/books/1", "root", { title: "x" }, 404],
    ["PUT", "/shops/1/book-shelves/1/books/7", "ada", { title: "Seven" }, 201],
    ["PUT", "/shops/1/book-shelves/01/books/7", "ada", { title: "x" }, 404],
    ["DELETE", "/shops/2/book-shelves/2/books/7", "root", undefined, 404],
    ["DELETE", "/shops/1/book-shelves/1", "ada", undefined, 204],
    ["GET", "/shops/1/book-shelves/1/books/7", "ada", undefined, 404],
  ];

  for (const [method, path, as, body, status] of rows) {
    const answered = await ask(method, path, { as, ...(body === undefined ? {} : { body }) });
    assert.equal(answered.status, status, `${method} ${path} as ${as}: ${answered.text}`);
    if (status === 201) assert.equal((await ask("GET", answered.headers.get("location")!, { as })).text, answered.text);
  }
  assert.equal((await ask("GET", "/shops/1/book-shelves", { headers: { "x-visitor": "ada" } })).text, "[]");
  assert.equal((await ask("POST", "/shops/1/book-shelves", { body: { label: "x" } })).status, 401);
  assert.deepEqual(
    observed.filter(({ kind }) => kind === "fault"),
    [],
  );
});

test("lets permitted callers create nested records in a record that no caller may change", async (t) => {
  const { ask } = await ownService(t, {
    mounts: [
      mount(shops, { permission: { read: anyone, create: administrator } }),
      mount(shelves, { permission: { create: authenticated, list: anyone } }),
    ],
  });
  await ask("POST", "/shops", { as: "root", body: { owner_id: 2, name: "a" } });

  assert.equal((await ask("POST", "/shops/1/book-shelves", { as: "ben", body: { label: "x" } })).status, 201);
  assert.equal((await ask("POST", "/shops/1/book-shelves", { body: { label: "x" } })).status, 401);
  assert.equal((await ask("GET", "/shops/1/book-shelves")).json.length, 1);
});

test("checks a rule about several fields on every write, and reports it like a mistake in one field", async (t) => {
  const spans = defineResource({
    name: "span",
    fields: { from: integer(), to: integer(), note: text({ optional: true, writeOnly: true, transient: true }) },
    check: ({ from, to, note }) =>
      from <= to || note === "backwards"
        ? []
        : [{ pointer: "/to", code: "before_from", detail: "The end must not be before the beginning." }],
  });
  const { ask } = await ownService(t, { mounts: [mount(spans, { permission: anyone })] });

  assert.equal((await ask("POST", "/spans", { body: { from: 2, to: 1 } })).json.errors[0].code, "before_from");
  assert.deepEqual(
    (await ask("POST", "/spans", { body: { from: 2 } })).json.errors.map(({ code }: { code: string }) => code),
    ["required"],
    "the rule is checked only if each field is valid",
  );
  assert.equal((await ask("POST", "/spans", { body: { from: 2, to: 1, note: "backwards" } })).status, 201);
  assert.equal((await ask("POST", "/spans", { body: { from: 1, to: 2 } })).status, 201);
  assert.equal((await ask("PATCH", "/spans/2", { body: { from: 3 } })).status, 400);
  assert.equal((await ask("PUT", "/spans/2", { body: { from: 3, to: 2 } })).status, 400);
  assert.deepEqual((await ask("GET", "/spans/2")).json, { id: 2, from: 1, to: 2 });
});

test("answers 428 to a change without If-Match if the mount sets `requireIfMatch`", async (t) => {
  const { ask } = await ownService(t, { mounts: [mount(shops, { permission: anyone, requireIfMatch: true })] });
  const body = { owner_id: 1, name: "b" };
  const made = await ask("POST", "/shops", { body });
  const etag = made.headers.get("etag")!;

  for (const [method, sent] of [
    ["PUT", body],
    ["PATCH", { name: "c" }],
    ["DELETE", undefined],
  ] as const) {
    const without = await ask(method, "/shops/1", sent === undefined ? {} : { body: sent });
    assert.equal(without.status, 428, method);
    assert.equal(without.json.code, "precondition_required");
    assert.equal(
      (await ask(method, "/shops/1", { ...(sent === undefined ? {} : { body: sent }), headers: { "if-match": '"0"' } }))
        .status,
      412,
    );
    assert.equal(
      (
        await ask(
          method,
          "/shops/99",
          sent === undefined || method === "PUT" ? { headers: { "if-match": etag }, body } : { body: sent },
        )
      ).status,
      method === "PUT" ? 412 : 404,
    );
  }
  assert.equal((await ask("PUT", "/shops/5", { body })).status, 201, "nothing is overwritten");
  assert.equal((await ask("GET", "/shops/1")).headers.get("etag"), etag);
  assert.equal((await ask("PATCH", "/shops/1", { body: { name: "c" }, headers: { "if-match": etag } })).status, 200);
  assert.equal((await ask("DELETE", "/shops/1", { headers: { "if-match": "*" } })).status, 204);
});

test("lets shared caches store a response only if no permission reads the caller", async (t) => {
  const inner = defineResource({ name: "inner", within: shops, fields: { a: integer() } });
  const looked = defineResource({ name: "looked", fields: { a: integer() } });
  const plain = defineResource({ name: "plain", fields: { a: integer() } });
  const { ask } = await ownService(t, {
    mounts: [
      mount(shops, { permission: anyone, cache: "public" }),
      mount(inner, { permission: anyone, cache: "public" }),
      mount(looked, { permission: anyOf(authenticated, anyone), cache: "public" }),
      mount(plain, { permission: anyone }),
    ],
  });
  await ask("POST", "/shops", { body: { owner_id: 1, name: "a" } });
  for (const path of ["/shops/1/inners", "/lookeds", "/plains"])
    assert.equal((await ask("POST", path, { body: { a: 1 } })).status, 201, path);
  const of = async (path: string, as?: string): Promise<string> => {
    const { headers } = await ask("GET", path, as === undefined ? {} : { as });
    return `${headers.get("cache-control")} | ${headers.get("vary")}`;
  };

  for (const as of [undefined, "ada"]) {
    assert.equal(await of("/shops", as), "public, no-cache | Accept, Prefer");
    assert.equal(await of("/shops/1", as), "public, no-cache | Accept");
    assert.equal(await of("/shops/1/inners", as), "public, no-cache | Accept, Prefer");
    assert.equal(await of("/shops/1/inners/1", as), "public, no-cache | Accept");
    assert.equal(await of("/lookeds/1", as), "private, no-cache | Accept, X-Visitor");
    assert.equal(await of("/plains/1", as), "private, no-cache | Accept, X-Visitor");
  }
  assert.equal(
    (await ask("POST", "/shops", { body: { owner_id: 1, name: "a" } })).headers.get("cache-control"),
    "private, no-cache",
  );
  assert.equal(
    (await ask("PUT", "/shops/1", { body: { owner_id: 1, name: "a" } })).headers.get("cache-control"),
    "private, no-cache",
  );
  assert.equal((await ask("GET", "/shops/9")).headers.get("cache-control"), "no-store");
});

test("lets hooks refuse, complete and extend a write in one transaction", async (t) => {
  const log = mount(defineResource({ name: "entry", plural: "entries", fields: { line: text() } }), {
    permission: { list: anyone },
  });
  const seen: string[] = [];
  const mounted = mount(defineResource({ name: "page", fields: { title: text(), slug: text({ readOnly: true }) } }), {
    permission: anyone,
    beforeWrite({ kind, id, current, draft }: Write) {
      seen.push(`${kind} ${id} ${String(current?.["title"] ?? null)} ${String(draft?.values["title"] ?? null)}`);
      const title = String(draft?.values["title"] ?? "");
      if (title === "forbidden") throw problem("permission_denied", { detail: "Not this one." });
      const changes: Change[] = [{ kind: "insert", collection: log.collection, values: { line: `${kind} ${title}` } }];
      if (title === "undone")
        changes.push({
          kind: "require",
          collection: log.collection,
          where: { column: "line", operator: "eq", value: "never" },
          atLeast: 1,
          name: "conflict",
        });
      return kind === "delete" ? { changes } : { values: { slug: title.toLowerCase() }, changes };
    },
  });
  const { ask } = await ownService(t, { mounts: [mounted, log] });

  assert.deepEqual((await ask("POST", "/pages", { body: { title: "One" } })).json, {
    id: 1,
    title: "One",
    slug: "one",
  });
  assert.equal((await ask("PUT", "/pages/9", { body: { title: "Nine" } })).json.slug, "nine");
  assert.equal((await ask("PATCH", "/pages/1", { body: { title: "Two" } })).json.slug, "two");
  assert.equal((await ask("PUT", "/pages/1", { body: { title: "Three" } })).json.slug, "three");
  assert.equal((await ask("POST", "/pages", { body: { title: "x", slug: "y" } })).json.errors[0].code, "read_only");
  const refused = await ask("POST", "/pages", { body: { title: "forbidden" } });
  assert.deepEqual([refused.status, refused.json.detail], [403, "Not this one."]);
  assert.equal((await ask("PATCH", "/pages/1", { body: { title: "undone" } })).status, 409);
  assert.equal((await ask("DELETE", "/pages/1")).status, 204);

  assert.deepEqual(seen, [
    "create null null One",
    "create 9 null Nine",
    "update 1 One Two",
    "replace 1 Two Three",
    "create null null forbidden",
    "update 1 Three undone",
    "delete 1 Three null",
  ]);
  assert.deepEqual(
    (await ask("GET", "/entries")).json.map(({ line }: { line: string }) => line),
    ["create One", "create Nine", "update Two", "replace Three", "delete "],
  );
  assert.equal((await ask("GET", "/pages")).json.length, 1);
});

test("applies a narrowing permission also to values that a hook or the path sets", async (t) => {
  const drafts = defineResource({
    name: "draft",
    within: shops,
    fields: { author_id: integer({ readOnly: true }), title: text() },
  });
  const inFirstShop: Permission<"shop_id"> = {
    name: "in shop 1",
    decide: () => ({ only: { column: "shop_id", operator: "eq", value: 1 } }),
  };
  const { ask } = await ownService(t, {
    mounts: [
      mount(shops, { permission: { read: anyone, create: anyone } }),
      mount(drafts, {
        permission: allOf(owner("author_id"), inFirstShop),
        beforeWrite: ({ context, current }) =>
          current === null ? { values: { author_id: context.requireIdentity().id } } : {},
      }),
    ],
  });
  for (const name of ["a", "b"]) await ask("POST", "/shops", { body: { owner_id: 1, name } });

  assert.deepEqual((await ask("POST", "/shops/1/drafts", { as: "ada", body: { title: "x" } })).json, {
    id: 1,
    author_id: 2,
    title: "x",
  });
  assert.equal((await ask("POST", "/shops/2/drafts", { as: "ada", body: { title: "x" } })).status, 403);
  assert.equal((await ask("PATCH", "/shops/1/drafts/1", { as: "ada", body: { title: "y" } })).status, 200);
  assert.equal((await ask("PATCH", "/shops/1/drafts/1", { as: "ben", body: { title: "y" } })).status, 404);
});
