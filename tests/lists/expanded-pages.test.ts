import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { consolePages } from "../../src/door/features.ts";
import {
  administrator,
  anyOf,
  anyone,
  defineResource,
  integer,
  mount,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { olderShape, references } from "../../src/door/resources.ts";
import { formats } from "../harness/lists-formats.ts";
import type { Seen } from "../harness/lists-model.ts";
import { readLinks, ownService, people, type Own, type OwnAnswer } from "../harness/own-service.ts";

// Follows every kind of list with related records to its last page. A missing next link would silently hide the
// remaining records.

const tag = defineResource({ name: "tag", fields: { label: text() } });
const author = defineResource({ name: "author", fields: { name: text(), owner_id: integer() } });
const book = defineResource({
  name: "book",
  fields: {
    title: text(),
    owner_id: integer(),
    author_id: reference(author),
    tags: references(tag, { default: [] }),
  },
  // The filter adds an index on `owner_id`. The lists of an owner use this index.
  filters: { owner_id: ["eq"] },
});
const page = defineResource({ name: "page", within: book, fields: { line: text() } });

/**
 * Allows Ben to see all records. `seen` allows the same to an administrator, and shows an owner only their own records.
 */
const librarian: Permission = {
  name: "librarian",
  decide: ({ identity }) => (identity?.username === people["ben"]!.username ? "allow" : "deny"),
};
const seen = anyOf(librarian, administrator, owner("owner_id"));
const pages = mount(page, { permission: anyone });
const books = mount(book, {
  permission: { list: seen, read: seen, create: anyone },
  expand: { author: "author_id", named: "tags", pages },
});
const older = { name: "title", author_id: "author_id", tags: "tags" } as const;
const mounts = [
  mount(tag, { permission: anyone }),
  mount(author, { permission: { list: anyone, create: anyone, read: anyOf(administrator, owner("owner_id")) } }),
  pages,
  books,
  olderShape(books, { prefix: "/v1", fields: older, defaults: { owner_id: 1 } }),
];

/** Creates nine books. Every second one belongs to Ada, whose id is 2. */
async function library(t: TestContext): Promise<Own> {
  const api = await ownService(t, { mounts, features: [consolePages({ title: "Library" })] });
  const make = async (path: string, body: object): Promise<void> => {
    const made = await api.ask("POST", path, { as: "root", body });
    assert.equal(made.status, 201, made.text);
  };
  for (const label of ["a", "b"]) await make("/tags", { label });
  for (const owner_id of [1, 2]) await make("/authors", { name: "A", owner_id });
  for (let id = 1; id <= 9; id++) {
    const one = 1 + (id % 2);
    await make("/books", { title: `T${id}`, owner_id: one, author_id: one, tags: id % 3 === 0 ? [] : [1, 2] });
    for (let line = 0; line < id % 3; line++) await make(`/books/${id}/pages`, { line: "x" });
  }
  return api;
}

const every = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const callers = {
  "a caller whose rows no permission narrows": ["ben", every],
  "an owner": ["ada", [1, 3, 5, 7, 9]],
  "an administrator": ["root", every],
} as const;

for (const [who, [as, ids]] of Object.entries(callers))
  test(`follows the next links to the last page, with any related records, as ${who}`, async (t) => {
    const api = await library(t);

    for (const expand of ["pages", "author", "named", "author,named,pages"])
      for (const shape of ["", "/v1"])
        for (const method of ["GET", "QUERY"])
          for (const format of [formats.json, formats.xml, formats.html])
            for (const limit of [1, 4, 9]) {
              const said = `${method} ${shape}/books by ${limit} with ${expand} as ${format.accept}`;
              const ask = (target: string): Promise<OwnAnswer> =>
                api.ask(method, target, {
                  as,
                  headers: { accept: format.accept },
                  ...(method === "QUERY" ? { body: { limit, expand } } : {}),
                });
              const all = (await api.get(`${shape}/books?expand=${expand}`, { as })).json as readonly Seen[];
              assert.deepEqual(
                all.map(({ id }) => id),
                ids,
                said,
              );

              const found: unknown[] = [];
              let next: string | undefined =
                `${shape}/books${method === "GET" ? `?limit=${limit}&expand=${expand}` : ""}`;
              for (; next !== undefined;) {
                const page: OwnAnswer = await ask(next);
                assert.equal(page.status, 200, `${said}: ${page.text}`);
                found.push(...format.rows(page, all.slice(found.length), Object.keys(all[0]!)));
                next = readLinks(page)["next"];
              }

              assert.deepEqual(
                found,
                all.map((record) => format.row(record, Object.keys(record))),
                said,
              );
            }
  });
