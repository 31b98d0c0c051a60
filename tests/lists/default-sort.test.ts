import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { Permission } from "../../src/door/auth.ts";
import { consolePages, documentation } from "../../src/door/features.ts";
import { csv } from "../../src/door/http.ts";
import { anyone, defineResource, integer, mount, owner, text } from "../../src/door/index.ts";
import { DeclarationError, olderShape } from "../../src/door/resources.ts";
import { collectShapes } from "../../src/http/mount/shapes.ts";
import { ownService, readLinks, type Own } from "../harness/own-service.ts";

const shelf = defineResource({ name: "shelf", plural: "shelves", fields: { label: text() } });
const book = defineResource({
  name: "book",
  within: shelf,
  fields: {
    title: text({ maxLength: 100 }),
    year: integer(),
    note: text({ optional: true, maxLength: 100 }),
  },
  filters: { year: ["gte"] },
  sorts: ["title", "year", "note"],
  defaultSort: "-year,title",
});
const books = mount(book, { permission: anyone });
const shelves = mount(shelf, { permission: anyone, expand: { books } });
const renamed = olderShape(books, { prefix: "/v1", fields: { name: "title", published: "year" } });
const shortened = olderShape(books, {
  prefix: "/v2",
  fields: {
    title: "title",
    decade: { from: "year", as: integer(), show: (year: number) => year - (year % 10), read: (year: number) => year },
  },
});
const inOrder = ["E", "C", "D", "A", "B"];

async function library(t: TestContext): Promise<Own> {
  const api = await ownService(t, {
    mounts: [shelves, books, renamed, shortened],
    formats: [csv()],
    features: [consolePages({ title: "Library" })],
  });
  await api.ask("POST", "/shelves", { body: { label: "first" } });
  for (const [title, year] of [
    ["B", 1813],
    ["D", 1814],
    ["A", 1813],
    ["C", 1814],
    ["E", 1815],
  ])
    assert.equal((await api.ask("POST", "/shelves/1/books", { body: { title, year } })).status, 201);
  return api;
}

const titles = (records: readonly Record<string, unknown>[]): unknown[] =>
  records.map(({ title, name }) => title ?? name);

test("orders a list without sort by the declared order, in every format and shape", async (t) => {
  const api = await library(t);

  const plain = await api.get("/shelves/1/books");
  const csv = await api.get("/shelves/1/books", { headers: { accept: "text/csv" } });
  const xml = await api.get("/shelves/1/books", { headers: { accept: "application/xml" } });
  const queried = await api.ask("QUERY", "/shelves/1/books", { body: { where: { year: { gte: 1814 } } } });

  const page = await api.get("/shelves/1/books", { headers: { accept: "text/html" } });

  assert.deepEqual(titles(plain.json), inOrder);
  assert.match(page.text, /5 books on this page/);
  assert.match(page.text, /aria-sort="descending"/);
  const sorted = await api.get("/shelves/1/books?sort=title", { headers: { accept: "text/html" } });
  assert.match(sorted.text, /aria-sort="ascending"><a [^>]*>Title</);
  const byId = await api.get("/shelves", { headers: { accept: "text/html" } });
  assert.match(byId.text, /1 shelf on this page/);
  assert.deepEqual(
    csv.text
      .trim()
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(",")[1]),
    inOrder,
  );
  assert.deepEqual(
    [...xml.text.matchAll(/<title>(\w)<\/title>/g)].map(([, title]) => title),
    inOrder,
  );
  assert.deepEqual(titles(queried.json), ["E", "C", "D"]);
  assert.deepEqual(titles((await api.get("/shelves/1/books?fields=title")).json), inOrder);
  assert.deepEqual(titles((await api.get("/shelves/1/books?sort=id")).json), ["B", "D", "A", "C", "E"]);
  assert.deepEqual(titles((await api.get("/v1/shelves/1/books")).json), inOrder);
});

test("leaves a converted field out of the order of an older shape, as in its sorts", async (t) => {
  const api = await library(t);

  assert.deepEqual(titles((await api.get("/v2/shelves/1/books")).json), ["A", "B", "C", "D", "E"]);
  const names = renamed.resource.defaultSort.map(({ field }) => field);
  assert.deepEqual(names, ["published", "name", "id"]);
});

for (const path of ["/shelves/1/books", "/v1/shelves/1/books", "/shelves/1/books?fields=id"])
  test(`walks the pages of ${path} in the declared order, forwards and backwards`, async (t) => {
    const api = await library(t);
    const whole = (await api.get(path)).json.map(({ id }: { id: number }) => id);

    const first = await api.get(`${path}${path.includes("?") ? "&" : "?"}limit=2`);
    const second = await api.get(readLinks(first)["next"]!);
    const third = await api.get(readLinks(second)["next"]!);
    const back = await api.get(readLinks(third)["prev"]!);

    const ids = [first, second, third].flatMap(({ json }) => json.map(({ id }: { id: number }) => id));
    assert.deepEqual(ids, whole);
    assert.equal(readLinks(third)["next"], undefined);
    assert.deepEqual(back.json, second.json);
  });

for (const defaultSort of ["-year,title", "-id", "id"] as const)
  test(`leads from the first hundred records expanded by ${defaultSort} to the others by id`, async (t) => {
    const many = mount(
      defineResource({ name: "book", within: shelf, fields: book.fields, sorts: ["title", "year"], defaultSort }),
      { permission: anyone, arrays: true },
    );
    const api = await ownService(t, {
      mounts: [mount(shelf, { permission: anyone, expand: { books: many } }), many],
    });
    await api.ask("POST", "/shelves", { body: { label: "first" } });
    const body = Array.from({ length: 103 }, (_, at) => ({ title: `T${at}`, year: 2000 - at }));
    assert.equal((await api.ask("POST", "/shelves/1/books", { body })).status, 201);

    const { json } = await api.get("/shelves/1?expand=books");
    const rest = await api.get(json.books_next);

    assert.equal(json.books.length, 100);
    assert.deepEqual(
      rest.json.map(({ id }: { id: number }) => id),
      [101, 102, 103],
    );
    assert.equal(json.books_next.includes("sort=id"), defaultSort !== "id");
  });

test("does not announce a deprecated field to a caller who asked for no order", async (t) => {
  const deprecated = { since: "2026-01-01" } as const;
  const poem = defineResource({
    name: "poem",
    fields: { line: text({ maxLength: 50, deprecated }) },
    sorts: ["line"],
    defaultSort: "line",
  });
  const api = await ownService(t, { mounts: [mount(poem, { permission: anyone })] });

  assert.equal((await api.get("/poems")).headers.get("deprecation"), null);
  assert.notEqual((await api.get("/poems?sort=line")).headers.get("deprecation"), null);
});

test("describes the order in OpenAPI, for the address and for QUERY", async (t) => {
  const latest = defineResource({ name: "latest", plural: "latest", fields: book.fields, defaultSort: "-id" });
  const api = await ownService(t, {
    mounts: [shelves, books, mount(latest, { permission: anyone })],
    features: [documentation({ title: "Library", version: "1" })],
  });

  const { json } = await api.get("/openapi.json");

  const orderOf = (path: string) =>
    json.paths[path].get.parameters.find(({ name }: { name: string }) => name === "sort").schema;
  assert.deepEqual(orderOf("/shelves/{shelf_id}/books").default, ["-year", "title"]);
  assert.deepEqual(orderOf("/latest").default, ["-id"]);
  assert.equal("default" in orderOf("/shelves"), false);
  assert.deepEqual(collectDefaults(json.components.schemas, "sort"), ["-year,title", "-id"]);
});

function collectDefaults(
  schemas: Record<string, { properties?: Record<string, { default?: unknown }> }>,
  name: string,
) {
  const found = Object.values(schemas).flatMap(({ properties }) => properties?.[name] ?? []);
  return found.flatMap((schema) => ("default" in schema ? [schema.default] : []));
}

test("serves the declared order by an index, also for the rows of one owner", () => {
  const declaration = {
    name: "note",
    fields: { owner_id: integer(), team_id: integer(), line: text({ maxLength: 50 }), year: integer() },
    sorts: ["line", "year", "owner_id"],
  } as const;
  const narrowedBy = (column: "id"): Permission<"id"> => ({
    name: "some",
    narrows: ["list"],
    columns: [column],
    decide: () => ({ only: { column, operator: "eq", value: 1 } }),
  });
  const sorting = ["line,id", "year,id", "owner_id,id"];
  const rows: readonly (readonly [defaultSort: string, narrowed: string | null, longer: string[]])[] = [
    ["id", null, []],
    ["-year", null, []],
    ["-year,line", null, []],
    ["year,line", null, ["year,line,id"]],
    ["-year,-line", null, ["year,line,id"]],
    ["id", "team_id", []],
    ["id", "owner_id", []],
    ["year,line", "owner_id", ["year,line,id", "owner_id,year,line,id"]],
    ["year", "owner_id", ["owner_id,year,id"]],
    ["owner_id,line", "owner_id", ["owner_id,line,id"]],
    ["year,line", "id", ["year,line,id"]],
  ];
  for (const [defaultSort, narrowed, longer] of rows) {
    const permission = narrowed === null ? anyone : narrowedBy(narrowed as "id");
    const { indexes } = mount(defineResource({ ...declaration, defaultSort: defaultSort as "id" }), {
      permission,
    }).collection;
    const found = indexes!.map((index) => index.join());
    assert.deepEqual(found.toSorted(), [...sorting, ...longer].toSorted(), `${defaultSort} ${narrowed}`);
  }

  const nested = mount(defineResource({ ...declaration, within: shelf, defaultSort: "year,line" }), {
    permission: anyone,
  });
  assert.ok(nested.collection.indexes!.some((index) => index.join() === "shelf_id,year,line,id"));
});

test("names each list that an index serves once, also in the declared order", () => {
  const titlesOf = (defaultSort: "id"): readonly string[] => {
    const note = defineResource({
      name: "note",
      fields: { owner_id: integer(), line: text({ maxLength: 50 }), year: integer() },
      sorts: ["line", "year"],
      defaultSort,
    });
    const shapes = collectShapes(mount(note, { permission: owner("owner_id") }), null);
    return shapes.filter(({ isServed }) => isServed).map(({ title }) => title);
  };
  for (const defaultSort of ["id", "-id", "year", "-year", "-year,-id", "year,line"]) {
    const titles = titlesOf(defaultSort as "id");
    assert.equal(new Set(titles).size, titles.length, defaultSort);
  }
  assert.ok(titlesOf("year,line" as "id").includes("by year,line, own owner_id"));
  assert.ok(titlesOf("id").includes("by id"));
});

test("refuses a default order that lists cannot have, with its place and the fix", () => {
  const declare = (defaultSort: unknown): void => {
    defineResource({
      name: "book",
      fields: { title: text({ maxLength: 100 }), year: integer() },
      sorts: ["title"],
      defaultSort: defaultSort as "title",
    });
  };
  const rows: readonly (readonly [defaultSort: unknown, message: string])[] = [
    ["-year", "resource book: defaultSort: lists cannot be sorted by year; add it to sorts, or name another field"],
    ["titel", "resource book: defaultSort: there is no sort titel; did you mean title?"],
    ["title,-titel", "resource book: defaultSort: there is no sort titel; did you mean title?"],
    ["title,-title", "resource book: defaultSort: title is named twice; leave one of them out"],
    ["id,-id", "resource book: defaultSort: id is named twice; leave one of them out"],
    ["", 'resource book: defaultSort: there is no sort ""; there are id, title'],
    ["title, year", 'resource book: defaultSort: there is no sort " year"; there are id, title'],
    [["title"], 'resource book: defaultSort is a list; it has to be a text, like "-created_at"'],
    ["--title", "resource book: defaultSort: there is no sort -title; did you mean title?"],
  ];

  for (const [defaultSort, message] of rows)
    assert.throws(
      () => declare(defaultSort),
      (error) => error instanceof DeclarationError && error.mistakes.join("\n") === message,
      String(defaultSort),
    );
  for (const sound of ["title", "-title", "-id", "title,-id"]) declare(sound);
});

// The compiler reports a field that the resource does not have.
const fields = { title: text({ maxLength: 100 }) };
export const declared = [
  () => defineResource({ name: "book", fields, sorts: ["title"], defaultSort: "-title" }),
  () => defineResource({ name: "book", fields, defaultSort: "-id" }),
  // @ts-expect-error -- there is no field of this name
  () => defineResource({ name: "book", fields, sorts: ["title"], defaultSort: "-titel" }),
  // @ts-expect-error -- an order is a text
  () => defineResource({ name: "book", fields, sorts: ["title"], defaultSort: ["title"] }),
];
