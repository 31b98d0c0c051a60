import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Permission } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyOf,
  anyone,
  authenticated,
  caller,
  defineResource,
  enumeration,
  integer,
  json,
  mount,
  nobody,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { ownService, people } from "../harness/own-service.ts";
import { strangeIn, splitWords, wordsOfOurs } from "../harness/said-by-pages.ts";

// Nightly on PostgreSQL: these pages show what the API answers, whose tests run on both databases.

const books = defineResource({
  name: "book",
  fields: {
    title: text({ maxLength: 200 }),
    owner_id: integer({ default: caller }),
    shelf: enumeration(["left", "right"], { default: "left" }),
    notes: json({ optional: true }),
    secret: text({ writeOnly: true, optional: true }),
  },
  filters: { title: ["eq", "starts"], owner_id: ["eq"] },
  sorts: ["title"],
});
const pages = defineResource({
  name: "page",
  within: books,
  fields: { line: text(), next_id: reference(books, { optional: true }) },
});

const ours = wordsOfOurs(
  [books, pages, people],
  "Library POST PUT PATCH DELETE http visitor lend left right true false application json HTTP",
);

const own = anyOf(administrator, owner("owner_id"));
const everyPermission = [anyone, nobody, authenticated, administrator, own, owner("owner_id")] as const;
const actions = ["list", "create", "read", "replace", "update", "delete"] as const;
const one: fc.Arbitrary<Permission<"owner_id", "owner_id">> = fc.constantFrom(...everyPermission);
const some = fc.record(Object.fromEntries(actions.map((action) => [action, one])), { requiredKeys: ["read"] });

/** A word that occurs nowhere else. */
const word = fc.string({ unit: fc.constantFrom(..."qxzkvwj"), minLength: 12, maxLength: 20 });
const book = fc.record({
  key: fc.integer({ min: 1_000_000, max: 9_999_999 }),
  owner_id: fc.constantFrom(2, 3),
  title: word,
  secret: word,
  notes: word,
  line: word,
});

test("shows no value that JSON hides from the same caller, with any permissions", async (t) => {
  const library = fc.uniqueArray(book, { minLength: 2, maxLength: 4, selector: ({ key }) => key });

  await fc.assert(
    fc.asyncProperty(some, library, fc.constantFrom("root", "ada", "ben", undefined), async (permission, shelf, as) => {
      const mounts = [
        mount(books, {
          permission,
          actions: { lend: { permission: own, body: { to: text() }, handle: () => undefined } },
        }),
        mount(pages, { permission: authenticated }),
      ];
      const { ask, service } = await ownService(t, { mounts, features: [consolePages({ title: "Library" })] });
      for (const { key, line, notes, ...values } of shelf) {
        const within = { book_id: key, line, next_id: shelf[0]!.key };
        await service.store.write({
          changes: [
            { kind: "insert", collection: mounts[0]!.collection, key, values: { ...values, notes: [notes] } },
            { kind: "insert", collection: mounts[1]!.collection, values: within },
          ],
        });
      }
      const { key, title } = shelf[1]!;
      for (const [method, at, body] of [
        ["GET", "/books"],
        ["GET", `/books?title=${title}&sort=-title&fields=id,title`],
        ["GET", `/books/${key}`],
        ["GET", `/books/${key}/pages`],
        ["GET", `/books/${key}/pages/2`],
        ["POST", "/books", { title: 7 }],
        ["PATCH", `/books/${key}`, { title: 7 }],
        ["PATCH", `/books/${key}`, { title: "" }],
        ["POST", `/books/${key}/lend`, { to: 7 }],
      ] as const) {
        const request = { ...(as === undefined ? {} : { as }), ...(body === undefined ? {} : { body }) };
        const headers = method === "PATCH" ? { "if-match": '"none"' } : {};
        const page = await ask(method, at, { ...request, headers: { ...headers, accept: "text/html" } });
        const data = await ask(method, at, { ...request, headers });
        // A form that is shown again contains the record, as far as the caller may read it.
        const record = method === "PATCH" ? (await ask("GET", at, as === undefined ? {} : { as })).text : "";
        const place = `${method} ${at} as ${as}`;
        // A page shows the title of a referenced book next to its id, if the caller may read this book.
        const referred = await ask("GET", `/books/${shelf[0]!.key}`, as === undefined ? {} : { as });

        // The page of a book has its first pages too, if the caller may list them.
        const inside = await ask("GET", `/books/${key}/pages`, as === undefined ? {} : { as });
        // A page within a book names the book, if the caller may read it.
        const above = await ask("GET", `/books/${key}`, as === undefined ? {} : { as });

        assert.equal(page.status, data.status, place);
        const knownWords = new Set([
          ...ours,
          ...splitWords(`${data.text} ${record} ${referred.status === 200 ? referred.text : ""}`),
          ...[inside, above].flatMap(({ status, text: said }) => (status === 200 ? splitWords(said) : [])),
          ...splitWords([...data.headers].flat().join(" ")),
          ...splitWords(`${at} ${JSON.stringify(body ?? {})} ${data.status}`),
          ...splitWords(page.headers.get("x-request-id")!),
        ]);
        assert.deepEqual(strangeIn(page, knownWords), [], place);
      }
    }),
    { numRuns: 12 },
  );
});
