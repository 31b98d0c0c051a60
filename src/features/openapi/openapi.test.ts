import assert from "node:assert/strict";
import { test } from "node:test";
import { administrator, anyOf, anyone, authenticated } from "../../access/permission/permission.ts";
import { absent, type Scheme } from "../../access/scheme/scheme.ts";
import { defineEndpoint, type Endpoint } from "../../http/declarations/endpoint.ts";
import { mount } from "../../http/declarations/mount.ts";
import { json } from "../../http/formats/json.ts";
import type { Format } from "../../http/request/format.ts";
import { runAtOnce } from "../../http/scheduling/slices.ts";
import * as fields from "../../resource/kinds/fields.ts";
import { defineResource } from "../../resource/resource.ts";
import { describeService } from "./openapi.ts";
import { ADDITIONAL_OPERATIONS } from "./operations/query-operation.ts";
import type { OpenAPIOptions } from "./options.ts";
import { writeDocument } from "./written.ts";

const shelf = defineResource({
  name: "book_shelf",
  plural: "book-shelves",
  description: "Where books stand.",
  fields: {
    label: fields.text({ maxLength: 20, unique: true, example: "A1" }),
    height: fields.integer({ optional: true }),
  },
  filters: { id: ["eq", "in"], label: ["eq", "starts"] },
  sorts: ["label"],
});
const book = defineResource({ name: "book", within: shelf, fields: { title: fields.text() } });

const page = endpoint({
  method: "GET",
  path: "/pages/{name:text}",
  access: "open",
  documentation: { summary: "Read a page", tag: "pages" },
});
const logIn = endpoint({
  method: "POST",
  path: "/api/token/",
  access: "open",
  consumes: ["application/json"],
  documentation: { summary: "Log in", problems: ["invalid_credentials"] },
});
const logOut = endpoint({ method: "DELETE", path: "/api/token", access: authenticated });

function endpoint(declared: Omit<Endpoint, "handle">): Endpoint {
  return defineEndpoint({ ...declared, handle: () => ({ status: 204 }) });
}

const basic: Scheme = {
  name: "basic",
  carriers: [{ in: "authorization", scheme: "Basic" }],
  challenge: () => "Basic",
  authenticate: () => absent,
};

// The document is untyped here, as for a client that knows only JSON.
type Document = ReturnType<typeof JSON.parse>;

function buildDocument(options: Partial<OpenAPIOptions>): Document {
  return JSON.parse(
    String(runAtOnce(writeDocument(runAtOnce(describeService({ title: "Books", version: "1", ...options }))))),
  );
}

const whole = buildDocument({
  mounts: [
    mount(shelf, { permission: authenticated }),
    mount(book, { permission: anyOf(anyone, administrator), requireIfMatch: true }),
  ],
  endpoints: [page, logIn, logOut],
  schemes: [basic],
});

function operations(document: Document): readonly { readonly path: string; readonly operation: Document }[] {
  return Object.entries<Document>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Document>(methods)
      .flatMap(([method, operation]) => (method === ADDITIONAL_OPERATIONS ? Object.values(operation) : [operation]))
      .map((operation) => ({ path, operation })),
  );
}

function resolve(document: Document, part: Document): Document {
  if (part.$ref === undefined) return part;
  return part.$ref
    .slice(2)
    .split("/")
    .reduce((at: Document, name: string) => at[name], document);
}

function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  yield value as Record<string, unknown>;
  for (const each of Object.values(value)) yield* objectsIn(each);
}

test("resolves every reference, and refers to every component", () => {
  const refs = new Set([...objectsIn(whole)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : [])));

  for (const $ref of refs) assert.ok(resolve(whole, { $ref }) !== undefined, $ref);
  const { securitySchemes: _, ...components } = whole.components;
  const declared = Object.entries<Document>(components).flatMap(([kind, named]) =>
    Object.keys(named).map((name) => `#/components/${kind}/${name}`),
  );
  assert.deepEqual(declared.toSorted(), [...refs].toSorted());
});

test("describes every required member of a schema", () => {
  const several = buildDocument({ mounts: [mount(shelf, { permission: authenticated, arrays: true })] });

  for (const { required, properties } of [...objectsIn(whole), ...objectsIn(several)])
    if (Array.isArray(required))
      assert.deepEqual(
        required.filter((name) => !(name in Object(properties))),
        [],
      );
  const { id } = several.components.schemas.BookShelfChange.properties;
  assert.deepEqual([id.type, id.minimum, id.readOnly], ["integer", 1, undefined]);
});

test("derives a unique operationId for each operation from its declaration", () => {
  const ids = operations(whole).map(({ operation }) => operation.operationId as string);

  const shelves =
    "listBookShelves queryBookShelves createBookShelf readBookShelf replaceBookShelf updateBookShelf deleteBookShelf";
  const books = shelves.replaceAll("Shelves", "ShelfBooks").replaceAll(/Shelf\b/g, "ShelfBook");
  assert.equal(ids.join(" "), `${shelves} ${books} getPagesName postApiToken deleteApiToken`);
});

test("adds a number to the second schema and to the second operation of the same name", () => {
  const problem = defineResource({ name: "problem", fields: { name: fields.text() } });
  const { components, paths } = buildDocument({
    mounts: [mount(problem, { permission: anyone })],
    endpoints: [
      endpoint({ method: "GET", path: "/a-b", access: "open" }),
      endpoint({ method: "GET", path: "/a/b", access: "open" }),
    ],
  });

  assert.ok(components.schemas.Problem.properties.request_id);
  assert.ok(components.schemas.Problem2.properties.name);
  assert.equal(paths["/a-b"].get.operationId, "getAB");
  assert.equal(paths["/a/b"].get.operationId, "getAB2");
});

test("declares every parameter of a path, and none twice", () => {
  for (const { path, operation } of operations(whole)) {
    const declared = ((operation.parameters ?? []) as Document[]).map((each) => resolve(whole, each));
    const inPath = declared.filter((each) => each.in === "path").map((each) => each.name as string);

    assert.deepEqual(inPath.toSorted(), [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).toSorted(), path);
    assert.equal(new Set(declared.map((each) => `${each.in} ${each.name}`)).size, declared.length, path);
    for (const each of declared) assert.ok(each.in !== "path" || each.required === true, path);
  }
});

test("describes a parameter of the path as in the endpoint's documentation", () => {
  const said = { name: "code", in: "path", required: true, schema: { enum: ["a"] } };
  const documentation = { summary: "X", parameters: [said] };
  const { paths } = buildDocument({
    endpoints: [endpoint({ method: "GET", path: "/x/{code:text}", access: "open", documentation })],
  });

  assert.deepEqual(paths["/x/{code}"].get.parameters, [said, { $ref: "#/components/parameters/format" }]);
});

test("writes paths as first declared, including a final slash", () => {
  assert.deepEqual(Object.keys(whole.paths), [
    "/book-shelves",
    "/book-shelves/{id}",
    "/book-shelves/{book_shelf_id}/books",
    "/book-shelves/{book_shelf_id}/books/{id}",
    "/pages/{name}",
    "/api/token/",
  ]);
  assert.deepEqual(Object.keys(whole.paths["/api/token/"]), ["post", "delete"]);
});

test("gives every operation a declared tag, a success response, and known schemes", () => {
  const tags = new Set(whole.tags.map(({ name }: Document) => name));
  for (const { operation } of operations(whole)) {
    for (const tag of operation.tags) assert.ok(tags.has(tag), tag);
    assert.ok(Object.keys(operation.responses).some((status) => Number(status) < 300));
    for (const name of operation.security.flatMap(Object.keys)) assert.ok(whole.components.securitySchemes[name], name);
  }
  assert.deepEqual(whole.tags[0], { name: "book shelves", description: "Where books stand." });
});

test("explains the tags that are used, and leaves out the others", () => {
  const { tags } = buildDocument({ endpoints: [page], tags: { pages: "For people.", others: "Unused." } });

  assert.deepEqual(tags, [{ name: "pages", description: "For people." }]);
});

test("requires the members of the records in a list, and explains at the parameter `fields` that it leaves some out", () => {
  const { BookShelf, BookShelfList } = whole.components.schemas;
  const { get } = whole.paths["/book-shelves"];
  const { get: one } = whole.paths["/book-shelves/{id}"];

  assert.deepEqual(BookShelf.required, ["id", "label", "height"]);
  assert.deepEqual(BookShelfList.items, { $ref: "#/components/schemas/BookShelf" });
  assert.deepEqual(one.responses[200].content["application/json"].schema, { $ref: "#/components/schemas/BookShelf" });
  for (const { parameters } of [get, one]) {
    const { description } = parameters.find(({ name }: { name?: string }) => name === "fields");
    assert.match(description, /The others are missing from the answer, although its schema requires them\./);
  }
  assert.deepEqual(BookShelfList.xml, { name: "book-shelves", wrapped: true });
});

test("shows a body in each media type that the endpoint reads", () => {
  const { put, patch } = whole.paths["/book-shelves/{id}"];

  assert.deepEqual(put.requestBody.content["application/json"], {
    schema: { $ref: "#/components/schemas/BookShelfDraft" },
    example: { label: "A1" },
  });
  assert.deepEqual(patch.requestBody.content["application/json-patch+json"], {
    schema: { $ref: "#/components/schemas/JSONPatch" },
    example: [{ op: "replace", path: "/label", value: "A1" }],
  });
  assert.deepEqual(patch.requestBody.content["application/xml"], {
    schema: { $ref: "#/components/schemas/BookShelfPatch" },
  });
});

test("names the problems of an operation in addition to the general ones", () => {
  const { patch } = whole.paths["/book-shelves/{id}"];
  const { put } = whole.paths["/book-shelves/{book_shelf_id}/books/{id}"];

  const said = (operation: Document, status: number) => resolve(whole, operation.responses[status]).description;
  assert.match(said(patch, 400), /`invalid_patch`/);
  assert.match(said(patch, 409), /`taken`.*`patch_conflict`/);
  assert.equal(patch.responses[428], undefined);
  assert.match(said(put, 428), /`precondition_required`/);
  assert.ok(
    put.parameters.some(
      (each: Document) => resolve(whole, each).name === "If-Match" && resolve(whole, each).required === true,
    ),
  );
  assert.match(said(whole.paths["/api/token/"].post, 401), /`invalid_credentials`/);
});

test("puts QUERY into the extension of OpenAPI 3.1", () => {
  const { QUERY } = whole.paths["/book-shelves"][ADDITIONAL_OPERATIONS];

  assert.equal(QUERY.operationId, "queryBookShelves");
  assert.deepEqual(Object.keys(QUERY.requestBody.content), ["application/json"]);
  assert.deepEqual(QUERY.responses[200], whole.paths["/book-shelves"].get.responses[200]);
  const { BookShelfQuery, BookShelfCondition } = whole.components.schemas;
  assert.deepEqual(Object.keys(BookShelfQuery.properties), ["where", "sort", "limit", "cursor", "fields", "count"]);
  assert.deepEqual(BookShelfCondition.properties.not, { $ref: "#/components/schemas/BookShelfCondition" });
});

test("does not describe actions that are not offered", () => {
  const { paths, components } = buildDocument({
    mounts: [mount(shelf, { permission: { read: anyone, replace: administrator } })],
  });

  assert.deepEqual(Object.keys(paths), ["/book-shelves/{id}"]);
  const names = Object.keys(components.schemas);
  assert.deepEqual(
    names.filter((name) => !/.Problem$/.test(name)),
    ["BookShelf", "BookShelfDraft", "Problem", "ProblemIssue"],
  );
  assert.ok(names.includes("TakenProblem") && !names.includes("InvalidPatchProblem"), names.join());
  assert.equal(paths["/book-shelves/{id}"].put.responses[201], undefined);
});

test("names pages and CSV only in the parameter `format`, and CSV only for lists", () => {
  const csv: Format = { ...json, mediaType: "text/csv", tagSuffix: "-csv", shows: "lists" };
  const pages: Format = { ...json, mediaType: "text/html", problemMediaType: "text/html", tagSuffix: "-html" };
  const document = buildDocument({ mounts: [mount(shelf, { permission: anyone })], formats: [csv, pages] });
  const { paths } = document;

  const list = paths["/book-shelves"].get;
  const one = paths["/book-shelves/{id}"].get;
  const findFormat = ({ parameters }: Document) =>
    parameters.map((each: Document) => resolve(document, each)).find(({ name }: Document) => name === "format");
  assert.deepEqual(findFormat(list).schema.enum, ["json", "xml", "csv", "html"]);
  assert.deepEqual(findFormat(one).schema.enum, ["json", "xml", "html"]);
  assert.match(findFormat(list).description, /`application\/json`, `application\/xml`, `text\/csv`, `text\/html`/);
  const both = ["application/json", "application/xml"];
  const contents = [list.responses[200], one.responses[200], paths["/book-shelves"].post.responses[201]];
  for (const { content } of contents) assert.deepEqual(Object.keys(content), both);
  const types = Object.keys(resolve(document, one.responses[404]).content);
  assert.deepEqual(types, ["application/problem+json", "application/problem+xml"]);
});

test("describes a service without any endpoints", () => {
  assert.deepEqual(buildDocument({ license: { name: "MIT" }, serverURL: "https://api.example" }), {
    openapi: "3.1.0",
    info: { title: "Books", version: "1", license: { name: "MIT" } },
    servers: [{ url: "https://api.example" }],
    tags: [],
    paths: {},
    components: {},
  });
});

test("describes an expandable relation as a parameter and as an optional member", () => {
  const mountedBooks = mount(book, { permission: anyone, expand: { shelf: "book_shelf_id" } });
  const { paths, components } = buildDocument({
    mounts: [mount(shelf, { permission: anyone, expand: { books: mountedBooks } }), mountedBooks],
  });

  for (const path of ["/book-shelves", "/book-shelves/{id}"]) {
    const { schema } = paths[path].get.parameters.find(({ name }: { name: string }) => name === "expand");
    assert.deepEqual(schema.items.enum, ["books", "books.shelf"]);
  }
  const { BookShelf: outer, BookShelfBook: inner } = components.schemas;
  assert.deepEqual(outer.properties.books.items, { $ref: "#/components/schemas/BookShelfBook" });
  assert.equal(outer.properties.books_next.type, "string");
  assert.deepEqual(inner.properties.shelf.anyOf, [{ $ref: "#/components/schemas/BookShelf" }, { type: "null" }]);
  assert.deepEqual(
    [outer.required, inner.required],
    [
      ["id", "label", "height"],
      ["id", "title"],
    ],
  );
  assert.ok(whole.paths["/book-shelves"].get.parameters.every(({ name }: { name?: string }) => name !== "expand"));
});
