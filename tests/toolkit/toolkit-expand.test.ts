import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Decision, Permission, PermissionRequest } from "../../src/door/auth.ts";
import {
  anyone,
  authenticated,
  defineResource,
  integer,
  mount,
  nobody,
  owner,
  reference,
  text,
} from "../../src/door/index.ts";
import { DeclarationError } from "../../src/door/resources.ts";
import { type RelatedQuery } from "../../src/door/stores.ts";
import { ownService, type Own } from "../harness/own-service.ts";
import { emptyStore, testsOnPostgres } from "../harness/test-store.ts";

const authors = defineResource({
  name: "author",
  fields: {
    name: text(),
    owner_id: integer(),
    pin: text({ writeOnly: true, optional: true }),
    mentor_id: reference("authors", { optional: true }),
  },
});
const shops = defineResource({ name: "shop", fields: { name: text(), owner_id: integer() } });
const books = defineResource({
  name: "book",
  within: shops,
  fields: {
    title: text({ maxLength: 10_000 }),
    owner_id: integer(),
    secret: text({ writeOnly: true, optional: true }),
    author_id: reference(authors, { optional: true }),
  },
});
const reviews = defineResource({
  name: "review",
  within: books,
  fields: { stars: integer(), owner_id: integer() },
});

type Rule = (request: PermissionRequest) => Decision<"owner_id">;
type Rules = Record<"shops" | "books" | "reviews" | "authors", { list: Rule; read: Rule }>;

const allow: Rule = () => "allow";
const open = (): Rules => ({
  shops: { list: allow, read: allow },
  books: { list: allow, read: allow },
  reviews: { list: allow, read: allow },
  authors: { list: allow, read: allow },
});

/** A bookshop whose permissions follow the current `rules`. */
async function bookshop(t: TestContext, rules: Rules): Promise<Own & { readonly queries: RelatedQuery[] }> {
  const rule = (name: keyof Rules): Permission<"owner_id"> => ({
    name,
    columns: ["owner_id"],
    decide: (request) =>
      request.action === "list" || request.action === "read" ? rules[name][request.action](request) : "allow",
  });
  const mountedReviews = mount(reviews, { permission: rule("reviews") });
  const mountedBooks = mount(books, {
    permission: rule("books"),
    expand: { author: "author_id", shop: "shop_id", reviews: mountedReviews },
  });
  const mountedShops = mount(shops, { permission: rule("shops"), expand: { books: mountedBooks } });
  const mountedAuthors = mount(authors, { permission: rule("authors"), expand: { mentor: "mentor_id" } });
  const queries: RelatedQuery[] = [];
  const store = await emptyStore();
  const own = await ownService(t, {
    store: { ...store, listRelated: (query) => (queries.push(query), store.listRelated(query)) },
    mounts: [mountedShops, mountedBooks, mountedReviews, mountedAuthors],
  });
  const make = async (path: string, body: object): Promise<void> => {
    const made = await own.ask("POST", path, { body });
    assert.equal(made.status, 201, made.text);
  };
  for (const mentor_id of [null, 1, 2, 1])
    await make("/authors", { name: "A", owner_id: 2 + ((mentor_id ?? 0) % 2), pin: "1234", mentor_id });
  for (const shop of [1, 2, 3]) await make("/shops", { name: `S${shop}`, owner_id: shop });
  for (const shop of [1, 2])
    for (const at of [1, 2, 3])
      await make(`/shops/${shop}/books`, {
        title: `T${at}`,
        owner_id: at,
        secret: "s",
        author_id: at === 3 ? null : at + 1,
      });
  for (const book of [1, 2, 4])
    for (const stars of [1, 2, 3])
      await make(`/shops/${book > 3 ? 2 : 1}/books/${book}/reviews`, { stars, owner_id: stars });
  return { ...own, queries };
}

test("expands two levels, with one query for each relation", async (t) => {
  const { get, queries } = await bookshop(t, open());

  const { json } = await get("/shops?expand=books.author,books.reviews");

  const author = { id: 2, name: "A", owner_id: 3, mentor_id: 1 };
  const review = (id: number) => ({ id, stars: id, owner_id: id });
  assert.deepEqual(json[0].books[0], {
    id: 1,
    title: "T1",
    owner_id: 1,
    author_id: 2,
    author,
    reviews: [1, 2, 3].map(review),
  });
  assert.deepEqual(json[2], { id: 3, name: "S3", owner_id: 3, books: [] });
  assert.equal(json[0].books[2].author, null);
  // PostgreSQL reads the first level in the query of the page, so it needs one query less.
  assert.equal(queries.length, testsOnPostgres ? 2 : 3);
});

test("shows no outdated expansion after a change", async (t) => {
  const { get, ask, queries } = await bookshop(t, open());
  const titles = async (): Promise<string[]> =>
    (await get("/shops?expand=books")).json[0].books.map(({ title }: { title: string }) => title);

  for (let time = 0; time < 3; time++) assert.deepEqual(await titles(), ["T1", "T2", "T3"]);
  // A query is cached from its second request on, so the third one reads nothing. PostgreSQL reads the books with the
  // page.
  assert.equal(queries.length, testsOnPostgres ? 0 : 2);
  await ask("PATCH", "/shops/1/books/2", { body: { title: "new" } });
  assert.deepEqual(await titles(), ["T1", "new", "T3"]);
  await ask("DELETE", "/shops/1/books/1");
  assert.deepEqual(await titles(), ["new", "T3"]);
});

test("shows at most 100 expanded records, and links to the others with the same expansions", async (t) => {
  const { get, ask } = await bookshop(t, open());
  for (let count = 0; count < 99; count++)
    await ask("POST", "/shops/3/books", { body: { title: "T", owner_id: 1, author_id: 1 } });
  for (let count = 0; count < 2; count++)
    await ask("POST", "/shops/3/books", { body: { title: "T", owner_id: 1, author_id: 1 } });

  const shop = (await get("/shops/3?expand=books.author")).json;
  const rest = (await get(shop.books_next)).json;

  assert.equal(shop.books.length, 100);
  assert.deepEqual([rest.length, rest[0].author], [1, shop.books[0].author]);
});

test("refuses expansions above 1 MiB, names the fix, and accepts shorter pages", async (t) => {
  const { get, ask } = await bookshop(t, open());
  const body = { title: "ü".repeat(10_000), owner_id: 1 };
  await Promise.all(Array.from({ length: 270 }, (_, at) => ask("POST", `/shops/${1 + (at % 3)}/books`, { body })));

  const refused = await get("/shops?expand=books");
  const shorter = await get("/shops?expand=books&limit=1");
  const twice = await get("/shops/1/books?expand=shop.books");

  assert.equal(refused.status, 400);
  assert.deepEqual(refused.json.errors, [
    {
      pointer: "?expand",
      code: "too_many",
      detail: "The expanded records are longer than 1 MiB. Read fewer records with limit, or expand less.",
    },
  ]);
  assert.equal(shorter.status, 200);
  assert.equal(twice.json.errors[0].code, "too_many");
});

test("allows shared caches only if everything in the response is public", async (t) => {
  const services = [anyone, authenticated].map(async (permission) => {
    const mounted = mount(authors, { permission, cache: "public", expand: { mentor: "mentor_id" } });
    const { get, ask } = await ownService(t, { mounts: [mounted] });
    await ask("POST", "/authors", { as: "ada", body: { name: "A", owner_id: 2 } });
    return (await get("/authors?expand=mentor", { as: "ada" })).headers.get("cache-control");
  });
  assert.deepEqual(await Promise.all(services), ["public, no-cache", "private, no-cache"]);

  const mounted = mount(authors, { permission: anyone });
  const lent = defineResource({ name: "loan", fields: { author_id: reference(authors) } });
  const loans = mount(lent, { permission: anyone, cache: "public", expand: { author: "author_id" } });
  const { get } = await ownService(t, { mounts: [mounted, loans] });
  assert.equal((await get("/loans?expand=author")).headers.get("cache-control"), "private, no-cache");
  assert.equal((await get("/loans")).headers.get("cache-control"), "public, no-cache");
});

test("shows in expansions exactly the records that the caller can read with plain GETs", async (t) => {
  const rules = open();
  const own = await bookshop(t, rules);
  const random = seeded(20260131);
  const paths = [
    "/shops?expand=books.author,books.reviews,books.shop",
    "/shops/2?expand=books.reviews",
    "/shops/1/books?expand=author.mentor,reviews,shop.books",
    "/shops/1/books/2?expand=author,reviews",
    "/authors?expand=mentor.mentor",
  ];

  const counts: Record<string, number> = {};
  for (let round = 0; round < 25; round++) {
    for (const name of Object.keys(rules) as (keyof Rules)[])
      rules[name] = { list: randomRule(random), read: randomRule(random) };
    for (const as of ["root", "ada", undefined]) {
      const view = createView(own, as);
      for (const path of paths) {
        const [plain, query] = path.split("?expand=") as [string, string];
        const expected = await model(view, plain, query);
        const shown = await view(path);
        assert.deepEqual(shown, expected, `round ${round}, ${as}, ${path}`);
        for (const found of JSON.stringify(shown ?? null).matchAll(
          /"(?:author|shop|mentor|books|reviews)":(null|\[\]|\{|\[\{)/g,
        ))
          counts[found[1]!] = (counts[found[1]!] ?? 0) + 1;
      }
    }
  }
  // The random rules must produce each result often enough: single records and lists, empty and not empty.
  for (const kind of ["null", "{", "[]", "[{"]) assert.ok(counts[kind]! > 50, JSON.stringify(counts));
});

type View = (path: string) => Promise<unknown>;
type Shown = Record<string, unknown> & { readonly id: number };

/**
 * Returns a function that reads a path as this caller. The function returns undefined if the caller may not read the
 * path.
 */
function createView({ get }: Own, as: string | undefined): View {
  const seen = new Map<string, Promise<unknown>>();
  return (path) => {
    let found = seen.get(path);
    if (found === undefined) {
      found = get(path, as === undefined ? {} : { as }).then(({ status, json }) => (status === 200 ? json : undefined));
      seen.set(path, found);
    }
    return found;
  };
}

const references: Readonly<Record<string, readonly [column: string, path: string]>> = {
  author: ["author_id", "/authors"],
  mentor: ["mentor_id", "/authors"],
  shop: ["shop_id", "/shops"],
};

/** Returns the expected response to a request with `expand`, combined from plain GETs. */
async function model(view: View, path: string, query: string): Promise<unknown> {
  const shown = await view(path);
  if (shown === undefined) return undefined;
  if (!Array.isArray(shown)) return withExpansions(view, path, shown as Shown, query.split(","));
  return Promise.all(
    (shown as Shown[]).map((each) => withExpansions(view, `${path}/${each.id}`, each, query.split(","))),
  );
}

async function withExpansions(view: View, path: string, record: Shown, names: readonly string[]): Promise<unknown> {
  const expansions: Record<string, unknown> = {};
  for (const name of new Set(names.map((each) => each.split(".")[0]!))) {
    const inner = names.filter((each) => each.startsWith(`${name}.`)).map((each) => each.slice(name.length + 1));
    const [column, target] = references[name] ?? [];
    if (column === undefined) {
      const listed = ((await view(`${path}/${name}`)) ?? []) as Shown[];
      const read = await Promise.all(listed.map(async ({ id }) => (await view(`${path}/${name}/${id}`)) !== undefined));
      const visibleRecords = listed.filter((_, at) => read[at]);
      expansions[name] = await Promise.all(
        visibleRecords.map((each) => withExpansions(view, `${path}/${name}/${each.id}`, each, inner)),
      );
      continue;
    }
    const id = column === "shop_id" ? path.split("/")[2] : record[column];
    const found = id === null ? undefined : ((await view(`${target}/${String(id)}`)) as Shown | undefined);
    expansions[name] = found === undefined ? null : await withExpansions(view, `${target}/${String(id)}`, found, inner);
  }
  return { ...record, ...expansions };
}

function randomRule(random: (below: number) => number): Rule {
  const parity = random(2);
  const id = 1 + random(4);
  const own = owner("owner_id");
  const rules: readonly Rule[] = [
    allow,
    allow,
    () => "deny",
    ({ identity }) => (identity === null ? "deny" : "allow"),
    (request) => own.decide(request),
    ({ identity }) =>
      identity?.role === "admin" ? "allow" : { only: { column: "owner_id", operator: "eq", value: id } },
    ({ params }) => (Number(params["id"] ?? 0) % 2 === parity ? "allow" : "deny"),
    ({ params }) => (Number(params["shop_id"] ?? 0) % 2 === parity ? "allow" : "deny"),
    ({ params }) => ({
      only: { column: "owner_id", operator: "lte", value: Number(params["shop_id"] ?? params["id"] ?? 3) },
    }),
    ({ params }) => ({ only: { column: "id", operator: "gte", value: Number(params["id"] ?? 2) - parity } }),
    () => ({
      only: {
        any: [
          { column: "id", operator: "eq", value: id },
          { column: "owner_id", operator: "in", value: [id] },
        ],
      },
    }),
  ];
  return rules[random(rules.length)]!;
}

/** Returns a generator of pseudo-random numbers, which are the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("reports impossible expansions during set-up", async (t) => {
  const permission = anyone;
  const mountedReviews = mount(reviews, { permission });
  const within = mount(books, { permission: { create: anyone } });
  const mistakes = (expand: object, resource = shops): string => {
    try {
      mount(resource, { permission, expand: expand as never });
      return "";
    } catch (error) {
      assert.ok(error instanceof DeclarationError, String(error));
      return error.mistakes.join("; ");
    }
  };
  const rows: readonly (readonly [expand: object, message: RegExp])[] = [
    [{ name: "owner_id" }, /expand\.name: a record has a member of this name already/],
    [{ id: "owner_id" }, /expand\.id: a record has a member of this name already/],
    [{ Author: "owner_id" }, /expand\.Author: the name has to be lower case/],
    [{ owner: "owner_id" }, /expand\.owner: no field owner_id refers to a record/],
    [{ owner: 7 }, /expand\.owner: it is 7; it has to be a column that refers to a record, or a mount/],
    [{ reviews: mountedReviews }, /expand\.reviews: .*is not nested in \/shops/],
    [{ books: within }, /expand\.books: \/shops\/\{shop_id\}\/books has no permission for list/],
  ];
  for (const [expand, message] of rows) assert.match(mistakes(expand), message);
  const hidden = defineResource({ name: "loan", fields: { author_id: reference(authors, { writeOnly: true }) } });
  assert.match(mistakes({ author: "author_id" }, hidden as never), /author_id is never shown/);

  const mountedBooks = mount(books, { permission, expand: { author: "author_id" } });
  const mountedShops = mount(shops, { permission, expand: { books: mountedBooks } });
  await assert.rejects(ownService(t, { mounts: [mountedShops] }), /expand\.books: .* is not mounted/);
  await assert.rejects(ownService(t, { mounts: [mountedShops, mountedBooks] }), /not mounted/);
  const unread = mount(authors, { permission: { list: nobody } });
  await assert.rejects(
    ownService(t, { mounts: [mountedShops, mountedBooks, unread] }),
    /\/authors has no permission for read/,
  );
});
