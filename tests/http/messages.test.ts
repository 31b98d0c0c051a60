import assert from "node:assert/strict";
import { test } from "node:test";
import {
  anyone,
  createService,
  decimal,
  defineEndpoint,
  defineResource,
  integer,
  mount,
  reference,
  text,
} from "../../src/door/index.ts";
import { DeclarationError, type Mount } from "../../src/door/resources.ts";
import { sqliteStore } from "../../src/door/stores.ts";
import { ownService } from "../harness/own-service.ts";

// Nightly on PostgreSQL: messages name parts of the declarations.

const loans = defineResource({
  name: "loan",
  fields: { copy_id: integer(), from: text({ maxLength: 10 }), note: text({ optional: true }) },
  filters: { copy_id: ["eq", "lt"] },
  sorts: ["from"],
});

test("names the field and the parameter that the caller probably meant", async (t) => {
  const { ask } = await ownService(t, { mounts: [mount(loans, { permission: anyone })] });
  const collectDetails = async (method: string, path: string, body?: object): Promise<readonly string[]> => {
    const { json } = await ask(method, path, body === undefined ? {} : { body });
    return json.errors.map((each: { detail: string }) => each.detail);
  };
  const whole = { copy_id: 1, from: "x" };

  assert.deepEqual(await collectDetails("POST", "/loans", { ...whole, copyid: 2, colour: "red" }), [
    "There is no field of this name. Did you mean copy_id?",
    "There is no field of this name.",
  ]);
  // Only five wrong names get a suggestion, because the search for the intended name takes time.
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`copy_i${at}`, 1]));
  const found = await collectDetails("POST", "/loans", { ...whole, ...many });
  assert.equal(found.filter((each) => each.includes("Did you mean")).length, 5);
  assert.equal(found.length, 50);
  const none = "There is no such parameter.";
  const next = `${none} For the next page, follow the link rel="next" of the Link header.`;
  const rows: readonly (readonly [query: string, detail: string])[] = [
    ["page=2", next],
    ["offset=20", next],
    ["limt=2", `${none} Did you mean limit?`],
    ["sortby=from", `${none} Did you mean sort?`],
    ["copyid=2", `${none} Did you mean copy_id?`],
    ["colour=red", none],
  ];
  for (const [query, detail] of rows) assert.deepEqual(await collectDetails("GET", `/loans?${query}`), [detail], query);
});

test("names the allowed methods in a 405 response, and the accepted media types in a 415 response", async (t) => {
  const { ask, service } = await ownService(t, {
    mounts: [mount(loans, { permission: { list: anyone, create: anyone } })],
    endpoints: [
      defineEndpoint({
        method: "POST",
        path: "/upload",
        access: anyone,
        consumes: ["application/json"],
        handle: () => ({ status: 204 }),
      }),
    ],
  });

  const refused = await ask("DELETE", "/loans");
  assert.deepEqual(
    [refused.status, refused.json.detail],
    [405, "The method is not offered at this address. Those that are: GET, HEAD, QUERY, POST, OPTIONS."],
  );
  assert.equal(refused.headers.get("allow"), "GET, HEAD, QUERY, POST, OPTIONS");
  for (const [path, accepted] of [
    ["/loans", "application/json or application/xml"],
    ["/upload", "application/json"],
  ] as const) {
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "a",
    });
    const { status, detail } = (await (await service.fetch(request, { peer: "127.0.0.1" })).json()) as {
      readonly status: number;
      readonly detail: string;
    };
    assert.deepEqual(
      [status, detail],
      [415, `The body is text/plain. This address accepts ${accepted}, in UTF-8 and without a Content-Encoding.`],
    );
  }
});

test("names a resource that is mounted twice, a missing mount, and the way to write a maximum", async () => {
  const collectMistakes = async (declare: () => readonly Mount[]): Promise<readonly string[]> => {
    try {
      await (await createService({ store: sqliteStore({ path: ":memory:" }), mounts: declare() })).close();
    } catch (error) {
      assert.ok(error instanceof DeclarationError, String(error));
      return error.mistakes;
    }
    return [];
  };
  const books = defineResource({ name: "book", fields: { author_id: reference("authors") } });
  const near = defineResource({ name: "book", fields: { author_id: reference("book") } });
  const mounted = mount(loans, { permission: anyone });

  assert.deepEqual(await collectMistakes(() => [mounted, mounted]), ["/loans is mounted twice in mounts; keep one"]);
  assert.deepEqual(await collectMistakes(() => [mounted, mounted, mount(loans, { permission: anyone })]), [
    "/loans is mounted 3 times in mounts; keep one",
  ]);
  assert.deepEqual(await collectMistakes(() => [mounted, mount(books, { permission: anyone })]), [
    "mount(/books): the field author_id refers to authors, which is not mounted; mount authors too; there are loans, books",
  ]);
  assert.deepEqual(await collectMistakes(() => [mount(near, { permission: anyone })]), [
    "mount(/books): the field author_id refers to book, which is not mounted; did you mean books?",
  ]);
  const [decimals] = await collectMistakes(() => [
    mount(defineResource({ name: "price", fields: { amount: decimal({ scale: 2 } as never) } }), {
      permission: anyone,
    }),
  ]);
  assert.match(decimals!, /decimal: maximum is missing; it has to be a text, like "9999\.99"$/);
});
